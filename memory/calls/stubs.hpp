// SPDX-License-Identifier: BSD-3-Clause
// The few instructions that make system calls which the filter lets pass, or traps always. Addresses are those behind
// the instruction `syscall`: the ones that the kernel reports.
#pragma once

#include <stdint.h>

namespace ringside::memory {

/// What the handler leaves on the stack of a thread for a stub, which runs with the stack pointer at it and raises that
/// again at its end. It lies below what the kernel and the handler have there until the handler returns.
struct Frame {
  uint64_t back;           // 0: where the interrupted function continues
  uint64_t result;         // 8
  uint64_t arguments[6];   // 16: rdi, rsi, rdx, r10, r8, r9 as the program had them
  uint64_t stack_pointer;  // 64: of the interrupted function
  uint64_t record;         // 72: what is pinned
  uint64_t scratch[6];     // 80: a structure in place of the program's
};
inline constexpr uint64_t kFrameBytes = 128;
static_assert(sizeof(Frame) == kFrameBytes);

/// No system call has this number; the filter traps it at the end of the pinned stub.
inline constexpr uint32_t kFinishNumber = 29287;

struct Stubs {
  uint64_t plain;          // the call, then back to the program
  uint64_t plain_site;     // passes
  uint64_t pinned;         // the call, then a trap that ends it
  uint64_t pinned_site;    // passes
  uint64_t finish_site;    // always traps
  uint64_t raw_site;       // the library's own calls: pass
};
/// In the library; after use_fixed_stubs those at the fixed address.
Stubs stubs() noexcept;
/// At an address that is the same in every process. A program that a process with the filter starts inherits it, and
/// may have an arena of its own: its calls pass too, from there.
Stubs fixed_stubs() noexcept;
/// Puts them there, for all calls of the library too. 0 or -errno.
long use_fixed_stubs() noexcept;

}  // namespace ringside::memory
