// SPDX-License-Identifier: BSD-3-Clause
// One set of a cache with a replacement policy, which selects the line that a new line displaces. The simulated caches
// consist of such sets; the replacement probe compares its observations with each policy's prediction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

namespace ringside::probe {

enum class Replacement {
  kLru,      // evicts the least recently used line
  kPlru,     // evicts along a binary tree, whose nodes select the half not used last; ways must be a power of two
  kFifo,     // evicts the line that came first
  kRandom,   // evicts a random line
  kAdaptive  // like LRU, but 31 of 32 new lines become the next victim, so that a scan displaces few lines
};

inline constexpr std::array kReplacements = {Replacement::kLru, Replacement::kPlru, Replacement::kFifo,
                                             Replacement::kRandom, Replacement::kAdaptive};

inline constexpr std::array<std::string_view, 5> kReplacementNames = {"lru", "plru", "fifo", "random", "adaptive"};

constexpr std::string_view to_string(Replacement replacement) noexcept {
  return kReplacementNames[static_cast<std::size_t>(replacement)];
}

class CacheSet {
 public:
  static constexpr std::uint64_t kNoLine = ~std::uint64_t{0};

  struct Victim {
    std::uint64_t line;
    bool dirty;
  };

  CacheSet(std::uint32_t ways, Replacement replacement);

  bool holds(std::uint64_t line) const noexcept { return way_of(line).has_value(); }

  /// Uses a line if it is in the set. Returns whether it was there.
  bool use(std::uint64_t line, bool makes_dirty) noexcept;

  /// Inserts a line that is not in the set. Returns the evicted line, or kNoLine.
  Victim insert(std::uint64_t line, bool dirty, std::mt19937_64& random) noexcept;

 private:
  struct Way {
    std::uint64_t line = kNoLine;
    std::uint64_t age = 0;  // the line with the least age is evicted (LRU, FIFO, adaptive)
    bool dirty = false;
  };

  std::optional<std::uint32_t> way_of(std::uint64_t line) const noexcept;
  std::uint32_t victim_way(std::mt19937_64& random) const noexcept;
  void point_tree_away_from(std::uint32_t way) noexcept;

  Replacement replacement_;
  std::uint64_t now_ = std::uint64_t{1} << 32;  // above the ages of the adaptive policy, which decrease
  std::uint64_t low_ = std::uint64_t{1} << 32;
  std::vector<Way> ways_;
  std::vector<std::uint8_t> tree_;  // one entry for each node: 1 if the victim is in the node's right half
};

}  // namespace ringside::probe
