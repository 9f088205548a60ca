// SPDX-License-Identifier: BSD-3-Clause
// Maps the ids of an edge list to rows: rows are the distinct ids in ascending order. All threads mark ids in a bitmap,
// unless an id is too large for the size of the text; larger ids are collected and sorted.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "producer/matrix/array.hpp"

namespace ringside {

/// A set of ids below `limit`, with one bit for each id. It can compute the rank of an id in the set. Pages without a
/// mark stay untouched.
class IdBitmap {
 public:
  explicit IdBitmap(std::uint64_t limit);

  std::uint64_t limit() const noexcept { return limit_; }

  /// Any thread may call this; id < limit.
  void mark(std::uint64_t id) noexcept {
    const std::atomic_ref<std::uint64_t> word(words_[id / 64]);
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    // Most ids are already marked. Therefore the word is read first, so that the cache line stays shared.
    if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
  }

  /// Call this after marking and before `rank`. Returns the number of marked ids up to `max_id`.
  std::uint64_t count_up_to(std::uint64_t max_id);

  /// The number of smaller marked ids.
  std::uint64_t rank(std::uint64_t id) const noexcept {
    std::uint64_t rank = marked_before_[id / kBlockBits];
    for (std::uint64_t word = id / kBlockBits * kBlockWords; word < id / 64; ++word) {
      rank += static_cast<std::uint64_t>(std::popcount(words_[word]));
    }
    const std::uint64_t below = (std::uint64_t{1} << (id % 64)) - 1;
    return rank + static_cast<std::uint64_t>(std::popcount(words_[id / 64] & below));
  }

  /// The first `count` marked ids, in ascending order. count: the number that count_up_to returned.
  Array<std::uint64_t> ids(std::uint64_t count) const;

 private:
  // There is one 32-bit count for four words. So the counts take an eighth of the bitmap's memory, and a rank reads at
  // most four words.
  static constexpr std::uint64_t kBlockWords = 4;
  static constexpr std::uint64_t kBlockBits = 64 * kBlockWords;

  std::uint64_t limit_;
  Array<std::uint64_t> words_;
  std::vector<std::uint32_t> marked_before_;
};

/// Collects ids of any size. Its memory grows with the number of distinct ids, not with the number of ids that were
/// added.
class IdCollection {
 public:
  void add(std::uint64_t id) {
    if (!added_.empty() && added_.back() == id) return;
    added_.push_back(id);
    if (added_.size() >= kSmallestBatch && added_.size() >= distinct_.size() / 2) merge();
  }

  /// All distinct ids, ascending.
  std::vector<std::uint64_t> take() {
    merge();
    return std::move(distinct_);
  }

 private:
  void merge();

  static constexpr std::size_t kSmallestBatch = std::size_t{1} << 16;
  std::vector<std::uint64_t> distinct_;
  std::vector<std::uint64_t> added_;
};

}  // namespace ringside
