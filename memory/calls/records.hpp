// SPDX-License-Identifier: BSD-3-Clause
// The state of a trapped system call while the kernel executes the call: its pins, and the progress of a transfer in
// pieces. A record belongs to one thread. A thread has several records if a handler of the program interrupts a call
// and makes another call.
#pragma once

#include <stdint.h>

#include <atomic>

#include "memory/calls/table.hpp"

namespace ringside::memory {

struct Record {
  std::atomic<uint32_t> taken;
  uint32_t next;        // the same thread's next record: 1 + its place, 0 if none
  int32_t thread;
  bool on_other_stack;  // the call was made on the alternate signal stack
  uint64_t frame;       // the address of the call's Frame
  long number;
  const Call* call;
  // A transfer in pieces.
  uint64_t done, piece, left;
  uint64_t segment, offset;  // the position in a vector
  bool in_pieces;
  // For sigaltstack: the range to unpin after success, and whether the first range is a stack that stays pinned.
  uint64_t stack_old, stack_old_bytes;
  bool stack_new;

  struct Range {
    uint32_t first, last;  // pages
    bool changes;
  };
  static constexpr uint32_t kMostRanges = 64;
  uint32_t ranges;
  Range range[kMostRanges];

  /// Pins the part of the range that is in the arena. Returns 0, -EFAULT (a part is not allocated; the memory before
  /// this part is pinned), -ENOMEM (the limit is reached) or -E2BIG (too many ranges). `pinned`, if not null, becomes
  /// the number of bytes from the start that are usable now.
  long pin(uint64_t address, uint64_t bytes, bool changes, uint64_t* pinned = nullptr) noexcept;
  /// Pins a text as pin does: up to its NUL, but at most `most` bytes and a page.
  long pin_text(uint64_t address, uint64_t most = 8192) noexcept;
  void unpin() noexcept;
};

class Records {
 public:
  /// Returns 0 or -errno.
  long start() noexcept;
  void stop() noexcept;
  /// A record for this thread; nullptr if all are in use. Drops the records of calls that the program left by longjmp.
  Record* take(uint64_t stack_pointer, bool on_other_stack) noexcept;
  void give(Record* record) noexcept;
  Record* at(uint64_t place) const noexcept { return place < kMost ? &records_[place] : nullptr; }
  uint64_t place_of(const Record* record) const noexcept { return static_cast<uint64_t>(record - records_); }
  /// Drops the pins of threads that ended during a call.
  void sweep() noexcept;

 private:
  static constexpr uint32_t kMost = 4096;
  void drop_left(uint64_t stack_pointer, bool on_other_stack) noexcept;
  Record* records_ = nullptr;
  std::atomic<uint32_t> hint_{0};
};

extern Records records;

}  // namespace ringside::memory
