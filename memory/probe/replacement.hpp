// SPDX-License-Identifier: BSD-3-Clause
// One set of a cache under a replacement policy: which of its lines goes when another one comes. The simulated caches
// consist of such sets, and the probe of replacement compares what it saw with what each policy would have done.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

namespace ringside::probe {

enum class Replacement {
  kLru,      // the line whose last use is longest ago goes
  kPlru,     // a binary tree of "the other half was used last"; the number of ways is a power of two
  kFifo,     // the line that came first goes
  kRandom,   // any line goes
  kAdaptive  // as LRU, but 31 of 32 new lines are put where the next victim is taken: a scan displaces one line
};

inline constexpr std::array kReplacements = {Replacement::kLru, Replacement::kPlru, Replacement::kFifo,
                                             Replacement::kRandom, Replacement::kAdaptive};

std::string_view to_string(Replacement replacement) noexcept;

class CacheSet {
 public:
  static constexpr std::uint64_t kNoLine = ~std::uint64_t{0};

  struct Victim {
    std::uint64_t line;
    bool dirty;
  };

  CacheSet(std::uint32_t ways, Replacement replacement);

  bool holds(std::uint64_t line) const noexcept { return way_of(line).has_value(); }

  /// Uses a line that may be here. Returns whether it was.
  bool use(std::uint64_t line, bool makes_dirty) noexcept;

  /// Puts in a line that is not here. Returns the line that had to go, or one with kNoLine.
  Victim insert(std::uint64_t line, bool dirty, std::mt19937_64& random) noexcept;

 private:
  struct Way {
    std::uint64_t line = kNoLine;
    std::uint64_t age = 0;  // the least one goes (LRU, FIFO, adaptive)
    bool dirty = false;
  };

  std::optional<std::uint32_t> way_of(std::uint64_t line) const noexcept;
  std::uint32_t victim_way(std::mt19937_64& random) const noexcept;
  void point_tree_away_from(std::uint32_t way) noexcept;

  Replacement replacement_;
  std::uint64_t now_ = std::uint64_t{1} << 32;  // above what the adaptive policy counts down from
  std::uint64_t low_ = std::uint64_t{1} << 32;
  std::vector<Way> ways_;
  std::vector<std::uint8_t> tree_;  // a node each: 1 if the victim is in its right half
};

}  // namespace ringside::probe
