// SPDX-License-Identifier: BSD-3-Clause
// How granules leave DRAM, in batches. The order is the safety of the data: a granule is unmapped (or write-protected)
// first, then its content is completed in far memory, then its word says absent.
#pragma once

#include <stdint.h>

#include "memory/arena/granule_word.hpp"
#include "memory/arena/userfault.hpp"
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

class Eviction {
 public:
  void start(const UserFault& userfault) noexcept { userfault_ = &userfault; }
  /// Whether pages leave the arena as they are; without it they are copied, and a granule that leaves is never unmapped
  /// before it is in far memory.
  bool moves() const noexcept { return userfault_->moves; }

  /// The first granules of the queues leave the arena, to probation or at once. Returns how many went at once: their
  /// memory can be charged anew.
  uint32_t unmap_batch(Cache& cache, uint32_t wanted) const noexcept;
  /// The first granules of probation go on to far memory; their pages are vacant.
  void clean_batch(Cache& cache, uint32_t wanted) const noexcept;

  /// Takes the pages of owned granules out of the arena; those already in a slot stay there. A granule that the kernel
  /// holds for now becomes resident again and leaves the batch.
  void park(Batch& batch) const noexcept;
  /// Ends a batch that was parked: the content is in far memory (`keep`) or forgotten, the words say absent or
  /// `forgotten`, the pages can be used again.
  void settle(Batch& batch, bool keep, State forgotten = kFree) const noexcept;

  /// Whether a granule's content, at `source`, has to be written.
  bool differs(const Victim& victim, uint32_t kind, const char* source) const noexcept;

 private:
  const UserFault* userfault_ = nullptr;
};

extern Eviction eviction;

}  // namespace ringside::memory
