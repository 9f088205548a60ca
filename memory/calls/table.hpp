// SPDX-License-Identifier: BSD-3-Clause
// What the kernel reads and writes for each system call that takes pointers: one line a call in table.cpp, a few words
// each. The filter is made from it, the handler of its traps pins what it says, and a test goes through it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace ringside::memory {

/// How many bytes a pointer argument means. Upper bounds do no harm: a page more is brought in.
enum class Size : uint8_t {
  kNone,
  kFixed,     // `unit` bytes
  kText,      // up to its NUL
  kBytes,     // as many as argument `other` says, and `unit`
  kCount,     // argument `other` times `unit`
  kLengthAt,  // as many as the 32-bit number says to which argument `other` points
  kBits,      // a bit for each number below argument `other`, in words of 8 bytes
  kPages,     // a byte for each page of as many bytes as argument `other` says
};

struct Pointer {
  uint8_t argument = 0;
  bool changes = false;  // the kernel writes it
  Size size = Size::kNone;
  uint8_t other = 0;
  uint32_t unit = 0;
};

enum class Action : uint8_t {
  kNone,
  kPin,          // what the pointers say
  kPieces,       // read, write and their like: a transfer of any length, in pieces
  kVector,       // the same of an array of iovec
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
  kSignalMask,   // rt_sigprocmask: SIGBUS and SIGSYS stay open
  kSignalAction, // rt_sigaction: they stay open in handlers too, and are the library's own
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

/// The table in the order of numbers.
extern const Call calls_table[];
extern const size_t calls_in_table;

/// The arguments (a bit each) whose value alone says that the arena is meant.
uint32_t arguments_of(const Call& call) noexcept;
/// Whether pointers to the arena may lie in structures elsewhere: no filter can see them.
bool is_nested(const Call& call) noexcept;

}  // namespace ringside::memory
