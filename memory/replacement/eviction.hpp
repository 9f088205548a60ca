// SPDX-License-Identifier: BSD-3-Clause
// Takes granules out of DRAM, in batches. The order keeps the data safe: a granule is first unmapped (or
// write-protected), then its content is completed in far memory, and only then does its word become absent.
#pragma once

#include <stdint.h>

#include "memory/arena/geometry.hpp"
#include "memory/arena/userfault.hpp"
#include "memory/replacement/cache.hpp"

namespace ringside::memory {

/// A granule that this thread owns (its word is loading or leaving).
struct Victim {
  uint32_t granule, node, slot;  // slot: kNoSlot while the page is in the arena
  Word word;                     // before it was claimed
};

/// Granules of one kind. A batch is small, because it is on the stack of a signal handler.
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
  /// Whether pages can leave the arena by MOVE. Otherwise pages are copied, and a granule that leaves is unmapped only
  /// once its content is in far memory.
  bool moves() const noexcept { return userfault_->moves; }

  /// Takes the first granules of the queues out of the arena, to probation or directly to far memory. Returns how many
  /// granules went to far memory; their memory can be charged again.
  uint32_t unmap_batch(Cache& cache, uint32_t wanted) const noexcept;
  /// Moves the first granules of probation to far memory; their pages become vacant.
  void clean_batch(Cache& cache, uint32_t wanted) const noexcept;

  /// Takes the pages of owned granules out of the arena; pages that are already in a slot stay there. If the kernel
  /// temporarily holds a granule, it becomes resident again and leaves the batch.
  void park(Batch& batch) const noexcept;
  /// Completes a parked batch. Afterwards the content is in far memory (`keep`) or discarded, the words are absent or
  /// `forgotten`, and the pages can be reused.
  void settle(Batch& batch, bool keep, State forgotten = kFree) const noexcept;

  /// Whether a granule's content, at `source`, must be written.
  bool differs(const Victim& victim, uint32_t kind, const char* source) const noexcept;

 private:
  const UserFault* userfault_ = nullptr;
};

extern Eviction eviction;

/// Evicts granules from the batch: afterwards their content is in far memory, their words are absent, and their memory
/// can be charged again. Returns the number of evicted granules. The rest stays in the batch and must be moved.
/// `clean`: changed granules may be evicted by this function, too; otherwise only granules that are certainly
/// unchanged.
uint32_t drop_scattered(const UserFault& userfault, Cache& cache, Batch& batch, bool clean) noexcept;

}  // namespace ringside::memory
