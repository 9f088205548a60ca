// SPDX-License-Identifier: BSD-3-Clause
// What a trapped call needs before the kernel may have it: pins, and for a long transfer a shorter length.
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

/// Copies from or to memory of the program outside the arena: the bytes copied, fewer if the rest is not there.
uint64_t look_outside(uint64_t address, void* to, uint64_t bytes) noexcept;
uint64_t change_outside(uint64_t address, const void* from, uint64_t bytes) noexcept;

/// Reads memory of the program, wherever it lies: false if it is not there. Never faults.
bool look(Record& record, uint64_t address, void* to, uint64_t bytes) noexcept;

/// The entries of an array of iovec, some at a time.
class Segments {
 public:
  Segments(Record& record, uint64_t array, uint64_t count) noexcept : record_(record), array_(array), count_(count) {}
  /// The entry `index`; false if the array is not there. In rising order.
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

/// The most bytes that a call holds at once.
uint64_t piece_bytes() noexcept;

/// Pins what the call reads and writes and changes `arguments` where it must be shorter; `frame` has room for a
/// structure in place of the program's. 0, or -errno, which is the call's result then.
long prepare(Record& record, Frame& frame, uint64_t* arguments) noexcept;

/// After the kernel returned `result`: true if the next piece of a transfer is prepared in `arguments`. Otherwise
/// `result` is what the program gets.
bool go_on(Record& record, Frame& frame, uint64_t* arguments, long* result) noexcept;

}  // namespace ringside::memory
