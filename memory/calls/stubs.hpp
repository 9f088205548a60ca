// SPDX-License-Identifier: BSD-3-Clause
// The few instructions with which system calls are made that the filter always permits or always traps. Each address is
// the address after the instruction `syscall`, as the kernel reports it.
#pragma once

#include <stdint.h>

namespace ringside::memory {

/// The handler leaves this frame on the thread's stack for a stub. The stub runs with the stack pointer at the frame.
/// At its end, the stub raises the stack pointer. Until the handler returns, the frame is below all data of the kernel
/// and the handler.
struct Frame {
  uint64_t back;           // at offset 0: where the interrupted function continues
  uint64_t result;         // at offset 8
  uint64_t arguments[6];   // at 16: rdi, rsi, rdx, r10, r8, r9 as the program had them
  uint64_t stack_pointer;  // at 64: the stack pointer of the interrupted function
  uint64_t record;         // the place of the record with the pins
  uint64_t scratch[6];     // at 80: space for a structure that replaces the program's
};
inline constexpr uint64_t kFrameBytes = 128;
static_assert(sizeof(Frame) == kFrameBytes);

/// No system call has this number. The filter traps it at the end of the pinned stub.
inline constexpr uint32_t kFinishNumber = 29287;

struct Stubs {
  uint64_t plain;          // the call, then back to the program
  uint64_t plain_site;     // the filter permits it
  uint64_t pinned;         // the call, then a trap that ends it
  uint64_t pinned_site;    // the filter permits it
  uint64_t finish_site;    // the filter always traps it
  uint64_t raw_site;       // the library's own calls, which the filter permits
};
/// The stubs in the library; after use_fixed_stubs, the stubs at the fixed address.
Stubs stubs() noexcept;
/// The stubs at an address that is the same in every process. A program that this process starts inherits the filter
/// and may have its own arena. The inherited filter also permits that program's calls from this address.
Stubs fixed_stubs() noexcept;
/// Copies the stubs to that address, and also uses them for all calls of the library. Returns 0 or -errno.
long use_fixed_stubs() noexcept;

}  // namespace ringside::memory
