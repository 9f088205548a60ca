// SPDX-License-Identifier: BSD-3-Clause
// The memory that the kernel reads and writes for each system call that takes pointers. table.cpp groups calls that are
// alike in this respect. The filter is built from this table, the handler pins memory according to the table, and a
// test checks it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ringside::memory {

/// How many bytes a pointer argument refers to. An upper bound is safe: at most, it brings in more pages than needed.
enum class Size : uint8_t {
  kNone,
  kFixed,     // `unit` bytes
  kText,      // up to its NUL
  kBytes,     // the value of argument `other`, plus `unit`
  kCount,     // argument `other` times `unit`
  kLengthAt,  // the 32-bit number at the address in argument `other`
  kBits,      // a bit for each number below argument `other`, in words of 8 bytes
  kPages,     // a byte for each page in a range of the bytes in argument `other`
};

struct Pointer {
  uint8_t argument = 0;
  bool changes = false;  // whether the kernel writes to the memory
  Size size = Size::kNone;
  uint8_t other = 0;
  uint32_t unit = 0;
};

enum class Action : uint8_t {
  kNone,
  kPin,          // only the pointers' memory
  kPieces,       // read, write and similar calls: a transfer of any length, in pieces
  kVector,       // the same as kPieces, but with an array of iovec
  kRemote,       // process_vm_readv: an array of iovec, not in pieces
  kMessage,      // struct msghdr
  kMessages,     // an array of struct mmsghdr
  kSubmit,       // an array of pointers to struct iocb
  kWaits,        // an array of struct futex_waitv
  kSelect,       // pselect6: its last argument is a structure with a pointer
  kIoctl,        // the size is in the number of the request
  kProgram,      // struct sock_fprog in argument 2 or 3
  kRegisters,    // ptrace: argument 3 may be a struct iovec
  kValue,        // setxattrat, getxattrat: struct xattr_args
  kSignalStack,  // sigaltstack
  kSignalMask,   // rt_sigprocmask: SIGBUS and SIGSYS stay unblocked
  kSignalAction, // rt_sigaction: SIGBUS and SIGSYS stay unblocked in handlers, and keep the library's action
  kExecute,      // execve: arrays of texts
  kMapping,      // changes a mapping: refused for the arena
  kRefused,      // never possible with an arena
};

struct Call {
  uint16_t number = 0;
  Action action = Action::kNone;
  Pointer pointers[5];
};

inline constexpr uint32_t kMostNumber = 512;

extern const Call* const calls_table;
extern const size_t calls_in_table;

/// One bit for each argument whose value itself can be an address in the arena.
uint32_t arguments_of(const Call& call) noexcept;
/// Whether pointers to the arena may be in structures outside the arena, which no filter can read.
bool is_nested(const Call& call) noexcept;

}  // namespace ringside::memory
