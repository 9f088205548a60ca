// SPDX-License-Identifier: BSD-3-Clause
// How granules leave DRAM, in batches, and how a fault gets a page. The order is the safety of the data: a granule is
// unmapped (or write-protected) first, then its content is completed in far memory, then its word says absent.
#pragma once

#include <stdint.h>

#include "memory/arena/granule_word.hpp"
#include "memory/frames/userfault.hpp"
#include "memory/replacement/cache.hpp"

namespace ringside::memory {

/// A granule that this thread owns (its word is loading or leaving).
struct Victim {
  uint32_t granule, node, slot;  // slot: kNoSlot while the page is in the arena
  Word word;                     // before it was claimed
};

/// Granules of one kind. A batch lives on the stack of a signal handler: it is small.
struct Batch {
  uint32_t kind = 0, count = 0;
  Victim victims[kBatch];
  void add(uint32_t granule, Word word, uint32_t slot) noexcept {
    victims[count++] = {granule, node_of(word), slot, word};
  }
};

void sort_by_granule(Batch& batch) noexcept;

/// Memory for a new granule: a page in a slot, or no page yet (kNoSlot).
struct Page {
  uint32_t node, slot;
};

class Eviction {
 public:
  void start(const UserFault& userfault) noexcept { userfault_ = &userfault; }

  /// Takes up to `wanted` pages for granules of a cache, at least one; evicts others if the limit is reached. The
  /// caller owns no page while it waits for its first, so that all threads together cannot wait for each other. One
  /// granule gets memory that has no page yet, if there is any: to fill it interrupts no other core.
  uint32_t acquire(Cache& cache, uint32_t wanted, Page* pages) const noexcept;

  /// Takes the pages of owned granules out of the arena; those already in a slot stay there. A granule that the kernel
  /// holds for now becomes resident again and leaves the batch.
  void park(Batch& batch) const noexcept;
  /// Ends a batch that was parked: the content is in far memory (`keep`) or forgotten, the words say absent or
  /// `forgotten`, the pages can be used again.
  void settle(Batch& batch, bool keep, State forgotten = kFree) const noexcept;

  /// Evicts about so many bytes, for DRAM that is not a granule's.
  void release(uint64_t bytes) const noexcept;
  /// Evicts until no more than the limit is in use; false if pinned granules prevent it.
  bool shrink() const noexcept;
  /// Whether a granule's content, at `source`, has to be written.
  bool differs(const Victim& victim, uint32_t kind, const char* source) const noexcept;

 private:
  void make_room(Cache& own, uint32_t wanted) const noexcept;
  /// Returns how many were dropped at once, so that their memory can be charged anew.
  uint32_t unmap_batch(Cache& cache, uint32_t wanted) const noexcept;
  void clean_batch(Cache& cache, uint32_t wanted) const noexcept;
  void shrink_cache(Cache& cache) const noexcept;
  bool release_vacant(Cache& cache) const noexcept;
  uint32_t take_vacant(Cache& cache, uint32_t wanted, Page* pages) const noexcept;
  uint32_t take_fresh(Cache& cache, uint32_t wanted, Page* pages) const noexcept;
  const UserFault* userfault_ = nullptr;
};

extern Eviction eviction;

}  // namespace ringside::memory
