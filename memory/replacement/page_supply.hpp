// SPDX-License-Identifier: BSD-3-Clause
// Where the memory of a granule that comes in is from: the limit leaves room for it, a page is vacant, or others are
// evicted for it.
#pragma once

#include <stdint.h>

#include "memory/replacement/cache.hpp"

namespace ringside::memory {

/// Memory for a new granule: a page in a slot, or no page yet (kNoSlot).
struct Page {
  uint32_t node, slot;
};

namespace page_supply {

/// Takes up to `wanted` pages for granules of a cache, at least one; evicts others if the limit is reached. The
/// caller owns no page while it waits for its first, so that all threads together cannot wait for each other. One
/// granule gets memory that has no page yet, if there is any: to fill it interrupts no other core.
uint32_t acquire(Cache& cache, uint32_t wanted, Page* pages) noexcept;

/// Evicts about so many bytes, for DRAM that is not a granule's.
void release(uint64_t bytes) noexcept;
/// Evicts until no more than the limit is in use; false if pinned granules prevent it.
bool shrink() noexcept;

}  // namespace page_supply

}  // namespace ringside::memory
