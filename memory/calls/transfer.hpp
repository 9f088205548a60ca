// SPDX-License-Identifier: BSD-3-Clause
// Prepares a trapped call for the kernel: pins memory, and shortens a long transfer. Also gives the results of calls
// that change mappings or signals.
#pragma once

#include <stdint.h>
#include <sys/uio.h>

#include "memory/arena/granule_table.hpp"
#include "memory/calls/records.hpp"
#include "memory/calls/stubs.hpp"

namespace ringside::memory {

inline bool in_arena(uint64_t address) noexcept {
  return table.owns(reinterpret_cast<const void*>(static_cast<uintptr_t>(address)));
}

/// These functions copy from or to memory of the program outside the arena. They return the number of bytes copied,
/// which is lower if the rest is absent.
uint64_t look_outside(uint64_t address, void* to, uint64_t bytes) noexcept;
uint64_t change_outside(uint64_t address, const void* from, uint64_t bytes) noexcept;

/// Reads memory of the program at any address. Returns false if the memory is not mapped. Never faults.
bool look(Record& record, uint64_t address, void* to, uint64_t bytes) noexcept;

/// The entries of an array of iovec, loaded in groups.
class Segments {
 public:
  Segments(Record& record, uint64_t array, uint64_t count) noexcept : record_(record), array_(array), count_(count) {}
  /// Reads the entry `index`; call it with rising indices. Returns false if the array is not mapped.
  bool at(uint64_t index, iovec* segment) noexcept {
    if (index % kAtOnce == 0) {
      const uint64_t left = count_ - index;
      if (!look(record_, array_ + index * sizeof(iovec), part_, (left < kAtOnce ? left : kAtOnce) * sizeof(iovec)))
        return false;
    }
    *segment = part_[index % kAtOnce];
    return true;
  }

 private:
  static constexpr uint64_t kAtOnce = 8;
  Record& record_;
  uint64_t array_, count_;
  iovec part_[kAtOnce];
};

/// The most bytes that a call pins at once.
uint64_t piece_bytes() noexcept;

/// Pins the memory that the call reads and writes, and shortens the transfer in `arguments` if necessary. `frame` has
/// space for a structure that replaces the program's. Returns 0, or -errno, which is then the result of the call.
long prepare(Record& record, Frame& frame, uint64_t* arguments) noexcept;

/// For calls whose pointers are in structures: pins the memory at these pointers. Returns 0 or -errno.
long pin_nested(Record& record, const uint64_t* arguments) noexcept;
/// After a successful sigaltstack: keeps the pins of the new stack, and drops those of the old stack.
void end_signal_stack(Record& record) noexcept;

/// Returns the result of mmap, munmap and similar calls for addresses in the arena.
long answer_mapping(long number, const uint64_t* arguments) noexcept;

/// rt_sigprocmask and rt_sigaction: writes the kernel's replacement for the program's structure into the scratch space
/// of `frame`, which will be copied to `at`. true: the call is complete, with `result`. `record`: null if this process
/// has no arena.
bool change_signal_call(const Call& call, Record* record, Frame& frame, uint64_t at, uint64_t* arguments,
                        long* result) noexcept;

/// Called after the kernel has returned `result`. Returns true if `arguments` now describe the next piece of the
/// transfer. Otherwise `result` becomes the result for the program.
bool go_on(Record& record, Frame& frame, uint64_t* arguments, long* result) noexcept;

}  // namespace ringside::memory
