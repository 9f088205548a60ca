// SPDX-License-Identifier: BSD-3-Clause
// Computes ranks in the bitmap, and merges collected ids.
#include "producer/matrix/id_map.hpp"

#include <algorithm>
#include <iterator>

namespace ringside {

IdBitmap::IdBitmap(std::uint64_t limit) : limit_(limit), words_((limit + 63) / 64) {}

std::uint64_t IdBitmap::count_up_to(std::uint64_t max_id) {
  const std::uint64_t words = max_id / 64 + 1;
  marked_before_.assign((words + kBlockWords - 1) / kBlockWords, 0);
  std::uint64_t marked = 0;
  for (std::uint64_t word = 0; word < words; ++word) {
    if (word % kBlockWords == 0) marked_before_[word / kBlockWords] = static_cast<std::uint32_t>(marked);
    marked += static_cast<std::uint64_t>(std::popcount(words_[word]));
  }
  return marked;
}

Array<std::uint64_t> IdBitmap::ids(std::uint64_t count) const {
  Array<std::uint64_t> ids(count);
  std::uint64_t next = 0;
  for (std::uint64_t word = 0; next < count; ++word) {
    for (std::uint64_t rest = words_[word]; rest != 0 && next < count; rest &= rest - 1) {
      ids[next++] = word * 64 + static_cast<std::uint64_t>(std::countr_zero(rest));
    }
  }
  return ids;
}

void IdCollection::merge() {
  std::sort(added_.begin(), added_.end());
  added_.erase(std::unique(added_.begin(), added_.end()), added_.end());
  std::vector<std::uint64_t> merged;
  merged.reserve(distinct_.size() + added_.size());
  std::set_union(distinct_.begin(), distinct_.end(), added_.begin(), added_.end(), std::back_inserter(merged));
  distinct_ = std::move(merged);
  added_.clear();
}

}  // namespace ringside
