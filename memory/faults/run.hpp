// SPDX-License-Identifier: BSD-3-Clause
// What one fault brings in: granules beside each other, of one cache and piece, that this thread owns until it closes
// their words. Of a stream they lie behind the granule that was touched, of a neighbourhood around it.
#pragma once

#include <stdint.h>

#include "memory/arena/granule_word.hpp"
#include "memory/replacement/cache.hpp"

namespace ringside::memory {

class Run {
 public:
  /// The granule, whose word was `seen` before this thread claimed it.
  Run(uint32_t granule, uint32_t kind, Word seen) noexcept;
  /// Claims as many beside it as are planned, as long as they have one of two states.
  void take(State one, State other) noexcept;
  /// Gives back all but `count`, from the ends; the granule itself stays.
  void keep(uint32_t count) noexcept;

  uint32_t span() const noexcept { return 1u << kind_; }  // pages of a granule
  uint32_t count() const noexcept { return (end_ - begin_) >> kind_; }
  uint32_t granule(uint32_t i) const noexcept { return begin_ + i * span(); }
  /// Its word before it was claimed.
  Word before(uint32_t i) const noexcept { return words_[place(granule(i))]; }
  /// Which of them was touched.
  uint32_t own() const noexcept { return (granule_ - begin_) >> kind_; }

  bool in_stream() const noexcept { return planned_ > 1; }
  /// So much of a stream that whole blocks of a disk are read ahead of it.
  bool is_long() const noexcept;
  /// The last fault of this stream was by a store.
  bool stored() const noexcept { return stored_; }
  /// Granules of a stream that come in before they are touched, and those of its last fault that were touched since.
  uint32_t ahead() const noexcept { return in_stream() ? count() - 1 : 0; }
  uint32_t confirmed() const noexcept { return confirmed_; }

  /// Once all have come in, with the cache's lock held: what their nodes keep of it.
  uint32_t came_alone(Cache& cache) const noexcept;
  /// Once all words are closed.
  void expect_next(bool store) const noexcept;

 private:
  uint32_t place(uint32_t at) const noexcept { return (at - chunk_) >> kind_; }
  uint32_t kind_, chunk_, granule_, begin_, end_;
  uint32_t planned_ = 1, confirmed_ = 0;
  bool expected_ = false, stored_ = false, around_ = false;
  Word words_[kBatch];  // at their places in the chunk
};

}  // namespace ringside::memory
