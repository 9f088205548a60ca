// SPDX-License-Identifier: BSD-3-Clause
// The granules that one fault brings in: neighbours that are in the same cache and the same piece. This thread owns the
// granules until it closes their words. In a stream, the other granules follow the touched granule; in a neighbourhood,
// they surround it.
#pragma once

#include <stdint.h>

#include "memory/arena/geometry.hpp"
#include "memory/replacement/cache.hpp"

namespace ringside::memory {

class Run {
 public:
  /// Begins with `granule`, which this thread has claimed. seen: the granule's word before the claim.
  Run(uint32_t granule, uint32_t kind, Word seen) noexcept;
  /// Claims the planned neighbours, up to the first one whose state is neither `one` nor `other`.
  void take(State one, State other) noexcept;
  /// Releases granules at both ends until `count` remain, but keeps the touched granule.
  void keep(uint32_t count) noexcept;

  uint32_t span() const noexcept { return 1u << kind_; }  // pages of a granule
  uint32_t count() const noexcept { return (end_ - begin_) >> kind_; }
  uint32_t granule(uint32_t i) const noexcept { return begin_ + i * span(); }
  /// A granule's word before it was claimed.
  Word before(uint32_t i) const noexcept { return words_[place(granule(i))]; }
  /// The index of the touched granule.
  uint32_t own() const noexcept { return (granule_ - begin_) >> kind_; }

  bool in_stream() const noexcept { return planned_ > 1; }
  /// Whether the stream is long enough to read whole disk blocks ahead of it.
  bool is_long() const noexcept;
  /// Whether the last fault of this stream was a store.
  bool stored() const noexcept { return stored_; }
  /// ahead: the stream's granules that this fault brings in before they are touched. confirmed: the granules that the
  /// stream's last fault brought in before they were touched.
  uint32_t ahead() const noexcept { return in_stream() ? count() - 1 : 0; }
  uint32_t confirmed() const noexcept { return confirmed_; }

  /// The value for the granules' nodes (Node::came_alone). Call it with the cache's lock held, once all granules have
  /// come in.
  uint32_t came_alone(Cache& cache) const noexcept;
  /// Call it once all words are closed.
  void expect_next(bool store) const noexcept;

 private:
  uint32_t place(uint32_t at) const noexcept { return (at - chunk_) >> kind_; }
  uint32_t kind_, chunk_, granule_, begin_, end_;
  uint32_t planned_ = 1, confirmed_ = 0;
  bool expected_ = false, stored_ = false, around_ = false;
  Word words_[kBatch];  // the words before the claims, at their places in the chunk
};

}  // namespace ringside::memory
