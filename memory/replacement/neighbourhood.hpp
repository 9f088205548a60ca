// SPDX-License-Identifier: BSD-3-Clause
// Decides, for each piece of 1 MiB, whether the 16 KiB around a granule (a neighbourhood) come in and leave together if
// faults follow no stream. Faults show whether that pays. If a second granule of a neighbourhood soon comes in alone,
// one fault for both granules would have saved a fault. If no second granule comes in, one fault for all would have
// brought in unused pages. When the granules of a piece come in as neighbourhoods, those of an eighth of them still
// come in singly, as samples. (Sampled sets as in set dueling, Qureshi et al., ISCA 2007. Unlike there, the misses of
// the two methods are not compared, because the method that brings in more granules has fewer misses, at the expense of
// other granules.)
#pragma once

#include <stdint.h>

#include "memory/arena/granule_table.hpp"
#include "memory/replacement/cache.hpp"

namespace ringside::memory::neighbourhood {

inline constexpr uint32_t kPages = 4;

inline uint32_t first(uint32_t granule) noexcept {
  return granule & ~(kPages - 1);
}

inline std::atomic<int8_t>& balance_of(uint32_t granule) noexcept {
  return table.neighbours_of_piece(granule / kPagesPerPiece);
}

inline bool wanted(uint32_t granule) noexcept {
  const bool is_sample = (granule / kPages * 0x9E3779B1u) >> 29 == 0;  // one of eight
  return balance_of(granule).load(std::memory_order_relaxed) > 0 && !is_sample;
}

/// Counts a granule that came in alone. The caller must hold the lock of the granule's cache. Returns the value for its
/// node: the number of granules that have come in alone so far.
inline uint32_t came_alone(Cache& cache, uint32_t granule, uint32_t kind) noexcept {
  // Two of four granules must be used: it is estimated that three granules, together with the granules that they evict,
  // cost as much as a fault. (With kSaved = 4, GNU sort read 1.6 times as much for 10 % fewer faults, and itemset 2.3
  // times for 15 % more.)
  constexpr int kMost = 16, kSaved = 1, kCost = -1;
  const uint32_t now = ++cache.came_alone;
  const uint32_t shortly = cache.evictable() / 16;
  bool saved = false;
  for (uint32_t at = first(granule); at < first(granule) + kPages; at += 1u << kind) {
    const Word word = table.word(at).load(std::memory_order_relaxed);
    if (at == granule || state_of(word) != kResident) continue;
    const Node& node = caches.node(node_of(word));
    saved = saved || (node.granule == at && now - node.came_alone <= shortly);
  }
  add_to_balance(balance_of(granule), saved ? kSaved : kCost, kMost);
  return now;
}

/// The value for a node whose granule came in together with others. With this value, no later granule counts as coming
/// in soon after it.
inline uint32_t not_alone(const Cache& cache) noexcept {
  return cache.came_alone - (uint32_t{1} << 31);
}

}  // namespace ringside::memory::neighbourhood
