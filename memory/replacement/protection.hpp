// SPDX-License-Identifier: BSD-3-Clause
// Decides, for each piece of 1 MiB, whether to write-protect a single granule that a load brings in. A granule that is
// still protected when it leaves is neither compared nor written; but a store to a protected granule costs a second
// fault. What happened to a piece's granules predicts what will happen to the next ones: some arrays are only read,
// others are read and then stored to. (Streams are always protected on a disk: see Resolve::load.)
#pragma once

#include <stdint.h>

#include "memory/arena/granule_table.hpp"
#include "memory/far/far_file.hpp"
#include "memory/replacement/cache.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory::protection {

inline std::atomic<int8_t>& balance_of(uint32_t granule) noexcept {
  return table.protection_of_piece(granule / kPagesPerPiece);
}

inline void add(uint32_t granule, int change) noexcept {
  constexpr int kMost = 100;
  add_to_balance(balance_of(granule), change, kMost);
}

inline constexpr int kSample = 32;  // one granule of 32 is always protected, to test whether that pays by now

inline bool wanted(uint32_t granule) noexcept {
  if (balance_of(granule).load(std::memory_order_relaxed) >= 0) return true;
  return static_cast<uint32_t>(now_ns() * 0x9E3779B97F4A7C15u >> 32) % kSample == 0;
}

/// A granule left without a write. A granule of the sample also counts for the granules that were not protected.
inline void saved(uint32_t granule) noexcept {
  add(granule, balance_of(granule).load(std::memory_order_relaxed) < 0 ? kSample : 1);
}

/// A store waited for a second fault. The unit is the time that a protected granule saves: a comparison in memory takes
/// a fifth of the time of a fault, a write to a disk takes half of it.
inline void stored(uint32_t granule) noexcept {
  add(granule, far.mapped() ? -5 : -2);
}

}  // namespace ringside::memory::protection
