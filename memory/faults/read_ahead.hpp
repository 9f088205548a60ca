// SPDX-License-Identifier: BSD-3-Clause
// Decides how many granules a fault of a stream brings in. A fault exactly at the end of a stream's last granules
// confirms the stream and brings in more granules (2, then 8, then 32); any other fault brings in one granule. So
// read-ahead starts only where it helps. It stops by itself, because faults at random addresses confirm no stream.
#pragma once

#include <stdint.h>

#include <atomic>

#include "memory/arena/geometry.hpp"
#include "memory/arena/granule_table.hpp"

namespace ringside::memory {

class ReadAhead {
 public:
  void start(bool never) noexcept { never_ = never; }
  bool works() const noexcept { return !never_; }

  /// For a fault at `granule`: returns the number of granules to bring in, at most `most`. `confirmed` becomes the
  /// number of granules that the stream's last fault brought in before they were touched, `stored` whether that fault
  /// was a store.
  uint32_t plan(uint32_t granule, Advice advice, uint32_t most, uint32_t* confirmed, bool* stored) noexcept {
    *confirmed = 0;
    *stored = false;
    if (never_ || advice == kAdviceRandom || most <= 1) return 1;
    const uint64_t seen = place(granule).load(std::memory_order_relaxed);
    uint32_t count = advice == kAdviceSequential ? 16 : 1;
    if (seen >> kGranuleShift == granule && (seen & kCount) != 0) {
      *stored = (seen & kStored) != 0;
      *confirmed = static_cast<uint32_t>(seen & kCount) - 1;
      const auto planned = static_cast<uint32_t>(seen >> kPlannedShift & kCount);
      count = planned == 1 ? 2 : planned * 4;
    }
    return count < most ? count : most;
  }

  /// Whether a stream is expected to fault at `granule`. For granules that are so large that plan always returns 1.
  bool expects(uint32_t granule, Advice advice) noexcept {
    const uint64_t seen = place(granule).load(std::memory_order_relaxed);
    return !never_ && advice != kAdviceRandom && seen >> kGranuleShift == granule && (seen & kCount) != 0;
  }

  /// Expects the stream's next fault at `next`. `stores`: whether the stream's present access is a store. `count`: the
  /// number of the `planned` granules that came in. It is lower if some were already present, which does not speak
  /// against a stream.
  void expect(uint32_t next, uint32_t planned, uint32_t count, bool stores) noexcept {
    if (never_) return;
    place(next).store(static_cast<uint64_t>(next) << kGranuleShift | uint64_t{planned} << kPlannedShift |
                          (stores ? kStored : 0) | count,
                      std::memory_order_relaxed);
  }

 private:
  // The bits of a place: the granule, the planned count, kStored and the count that came in.
  static constexpr uint64_t kCount = 0xff, kStored = 1u << 8;
  static constexpr int kPlannedShift = 9, kGranuleShift = 17;
  struct alignas(64) Place {  // 64: one cache line per place, so that threads with different streams share none
    std::atomic<uint64_t> word{0};
  };
  std::atomic<uint64_t>& place(uint32_t granule) noexcept { return places_[(granule * 0x9E3779B1u) >> 24].word; }
  Place places_[256];
  bool never_ = false;
};

extern ReadAhead read_ahead;

}  // namespace ringside::memory
