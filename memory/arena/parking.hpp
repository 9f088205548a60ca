// SPDX-License-Identifier: BSD-3-Clause
// DRAM pages that are not mapped in the arena wait in slots. The slots of each granule size are one range of addresses.
// A single page that leaves the arena takes any empty slot. A batch takes neighbouring slots, so that one MOVE is
// enough to take the batch out, and one MOVE to bring it back.
#pragma once

#include <stdint.h>

#include <atomic>

#include "memory/arena/geometry.hpp"
#include "memory/arena/userfault.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {

inline constexpr uint32_t kNoSlot = UINT32_MAX;

class Parking {
 public:
  /// Makes `bytes` bytes of slots for each granule size, divided among `partitions` partitions. Returns 0 or -errno.
  long start(const UserFault& userfault, uint64_t bytes, uint32_t partitions) noexcept;
  void stop() noexcept;
  /// In a forked child, which did not inherit the slots: forgets them.
  void forget() noexcept;

  char* address(uint32_t kind, uint32_t slot) const noexcept {
    return kinds_[kind].base + (static_cast<uint64_t>(slot) << (kPageShift + kind));
  }
  /// Takes neighbouring empty slots, of the partition if possible, and returns the first. `taken` becomes the number of
  /// slots: at least one, and at most `wanted` (which is at most 64).
  uint32_t take(uint32_t kind, uint32_t partition, uint32_t wanted, uint32_t* taken) noexcept;
  void give(uint32_t kind, uint32_t slot) noexcept;
  /// Gives the pages of slots back to the kernel. The slots stay taken.
  void drop_pages(uint32_t kind, uint32_t slot, uint32_t count) const noexcept;

 private:
  struct alignas(64) Section {  // the slots of a partition; 64 bytes: one cache line each
    Lock lock;
    uint32_t rover = 0, used = 8;  // words of the bitmap: where the search starts, and how many are searched
  };
  struct Kind {
    char* base = nullptr;
    std::atomic<uint64_t>* taken = nullptr;  // one bit for each slot
    Section* sections = nullptr;
    uint32_t words = 0;  // words of the bitmap per partition
  };
  Kind kinds_[kKinds];
  uint64_t bytes_ = 0, bitmap_bytes_ = 0;
  uint32_t partitions_ = 0;
};

extern Parking parking;

}  // namespace ringside::memory
