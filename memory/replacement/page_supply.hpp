// SPDX-License-Identifier: BSD-3-Clause
// Supplies memory for a granule that comes in: within the limit, from a vacant page, or by evicting other granules.
#pragma once

#include <stdint.h>

#include "memory/replacement/cache.hpp"

namespace ringside::memory {

/// Memory for a new granule: a page in a slot, or no page yet (kNoSlot).
struct Page {
  uint32_t node, slot;
};

namespace page_supply {

/// Takes up to `wanted` pages, but at least one, for granules of a cache; at the limit, evicts other granules. The
/// caller owns no page while it waits for its first page, so threads cannot block each other. If possible, one granule
/// gets memory without a page, because filling this granule interrupts no other core.
uint32_t acquire(Cache& cache, uint32_t wanted, Page* pages) noexcept;

/// Evicts about `bytes`, for DRAM that no granule uses.
void release(uint64_t bytes) noexcept;
/// Evicts until the DRAM in use is within the limit. Returns false if pinned granules prevent this.
bool shrink() noexcept;

}  // namespace page_supply

}  // namespace ringside::memory
