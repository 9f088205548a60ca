// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous writes of a far file on a disk. Data that leaves DRAM is copied into a buffer of 2 MiB, which is in
// addition to the limit, and is submitted with io_submit(2), which bypasses the page cache. Until the write is
// complete, this copy is the valid content: reads use it, and a second write to that range, or a hole in it, must wait.
//
// Two threads never read or write the same range at once, because a thread first takes the words of the range's
// granules. A thread that copied a range into the buffer had taken these words, too.
#pragma once

#include <linux/aio_abi.h>
#include <stddef.h>
#include <stdint.h>

#include <atomic>

#include "memory/arena/geometry.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {

class WriteBehind {
 public:
  /// Copies that are not yet submitted. An Orders object belongs to one thread, and is on the stack of a signal
  /// handler.
  struct Orders {
    static constexpr uint32_t kMost = kBatch;
    uint32_t count = 0;
    uint64_t bytes = 0;
    uint8_t numbers[kMost];
  };

  /// `descriptor`: opened with O_DIRECT. If the kernel refuses, all writes are synchronous.
  void start(int descriptor) noexcept;
  /// Waits for all writes.
  void stop() noexcept;
  /// Called in a forked child: forgets the parent's writes.
  void forget() noexcept;

  bool any() const noexcept { return memory_ != nullptr; }
  /// Copies a range of whole pages. The file receives it after submit; this call itself may submit `orders`.
  void copy(uint64_t offset, const char* from, size_t bytes, Orders& orders) noexcept;
  void submit(Orders& orders) noexcept;

  /// Copies a range whose write is not complete. Returns false if the file already has the range.
  bool take(uint64_t offset, char* to, size_t bytes) noexcept;
  /// Waits until all copied data of a range is in the file.
  void wait(uint64_t offset, uint64_t bytes) noexcept;
  /// Whether a part of a range may not be in the file yet.
  bool holds(uint64_t offset, uint64_t bytes) noexcept;
  /// The parts that may not be in the file yet: a bit for each of 64 parts of 2^part_shift bytes from `offset` on.
  uint64_t held_parts(uint64_t offset, uint32_t part_shift) noexcept;

 private:
  enum Phase : uint32_t { kFilling, kWriting, kDone };  // kDone: only a reader still uses the slot
  struct Slot {
    uint64_t offset = 0;
    uint32_t bytes = 0, first_page = 0;
    uint32_t readers = 0;
    Phase phase = kFilling;
    iocb order{};
  };
  // 128 writes, in a buffer of 2 MiB. A write takes up to 64 neighbouring pages, which all belong to one word of the
  // bitmap.
  static constexpr uint32_t kSlots = 128, kWords = 8;
  static constexpr uint64_t kBytes = uint64_t{kWords} * 64 * kPage;
  static constexpr uint64_t kMostBytes = 64 * kPage;

  char* buffer(const Slot& slot) const noexcept { return memory_ + static_cast<uint64_t>(slot.first_page) * kPage; }
  void copy_part(uint64_t offset, const char* from, uint32_t bytes, Orders& orders) noexcept;
  // The caller must hold the lock.
  uint32_t overlapping(uint64_t offset, uint64_t bytes) const noexcept;
  uint32_t take_slot(uint64_t offset, uint32_t bytes) noexcept;
  void release(uint32_t number) noexcept;
  // The caller must not hold the lock.
  uint32_t collect(bool wait) noexcept;
  void complete(const io_event& event) noexcept;
  void written(uint32_t number) noexcept;
  /// Returns after any slot has changed.
  void wait_for_any() noexcept;

  Lock lock_;
  Slot slots_[kSlots];
  uint64_t used_slots_[kSlots / 64] = {};
  uint64_t used_pages_[kWords] = {};
  int32_t submitted_ = 0;   // the number of writes that are submitted and not collected; may be below 0 for a moment
  bool collecting_ = false;  // only one thread collects, so no two threads wait for the same event
  std::atomic<uint32_t> collected_{0};  // a futex: changes after each collection
  std::atomic<uint32_t> in_use_{0};     // the number of slots in use
  unsigned long context_ = 0;
  char* memory_ = nullptr;
  int descriptor_ = -1;
};

/// Writes a range at once; ends the process if the device fails.
void write_now(int descriptor, uint64_t offset, const char* from, size_t bytes) noexcept;

}  // namespace ringside::memory
