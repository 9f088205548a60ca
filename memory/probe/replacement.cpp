// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/replacement.hpp"

namespace ringside::probe {

CacheSet::CacheSet(std::uint32_t ways, Replacement replacement)
    : replacement_(replacement), ways_(ways), tree_(replacement == Replacement::kPlru ? ways : 0) {}

std::optional<std::uint32_t> CacheSet::way_of(std::uint64_t line) const noexcept {
  for (std::uint32_t way = 0; way < ways_.size(); ++way) {
    if (ways_[way].line == line) return way;
  }
  return std::nullopt;
}

bool CacheSet::use(std::uint64_t line, bool makes_dirty) noexcept {
  const std::optional<std::uint32_t> way = way_of(line);
  if (!way) return false;
  ways_[*way].dirty |= makes_dirty;
  if (replacement_ == Replacement::kLru || replacement_ == Replacement::kAdaptive) ways_[*way].age = ++now_;
  if (replacement_ == Replacement::kPlru) point_tree_away_from(*way);
  return true;
}

CacheSet::Victim CacheSet::insert(std::uint64_t line, bool dirty, std::mt19937_64& random) noexcept {
  const std::uint32_t way = victim_way(random);
  const Victim victim{ways_[way].line, ways_[way].dirty};
  const bool is_next_victim = replacement_ == Replacement::kAdaptive && random() % 32 != 0;
  ways_[way] = {line, is_next_victim ? --low_ : ++now_, dirty};
  if (replacement_ == Replacement::kPlru) point_tree_away_from(way);
  return victim;
}

std::uint32_t CacheSet::victim_way(std::mt19937_64& random) const noexcept {
  std::uint32_t oldest = 0;
  for (std::uint32_t way = 0; way < ways_.size(); ++way) {
    if (ways_[way].line == kNoLine) return way;
    if (ways_[way].age < ways_[oldest].age) oldest = way;
  }
  if (replacement_ == Replacement::kRandom) return static_cast<std::uint32_t>(random() % ways_.size());
  if (replacement_ != Replacement::kPlru) return oldest;
  std::uint32_t node = 1;
  while (node < ways_.size()) node = 2 * node + tree_[node];
  return node - static_cast<std::uint32_t>(ways_.size());
}

void CacheSet::point_tree_away_from(std::uint32_t way) noexcept {
  for (std::uint32_t node = way + static_cast<std::uint32_t>(ways_.size()); node > 1; node /= 2) {
    tree_[node / 2] = node % 2 == 0 ? 1 : 0;
  }
}

}  // namespace ringside::probe
