// SPDX-License-Identifier: BSD-3-Clause
// Walks over lines measure one level of caches: the share of accesses that miss this level once the walk has settled.
// All probes of size and ways use only this share. It is independent of the replacement policy: under every policy,
// lines that fit together stay after enough laps, and lines that do not fit miss at least once a lap.
#pragma once

#include <random>
#include <vector>

#include "memory/probe/timed_memory.hpp"

namespace ringside::probe {

/// The costs of one level: of a hit, and of an access that misses the level.
struct LevelCosts {
  double hit_ns = 0;
  double past_ns = 0;
  double disturbed_ns = 1e300;  // an access that took longer was interrupted; its cost is ignored
  double limit_ns() const { return (hit_ns + past_ns) / 2; }
};

/// Lines that are touched in addition to each line of a walk.
struct Company {
  std::vector<Address> before = {};  // they displace the line from nearer levels, but are in other sets of this level
  std::uint64_t neighbour = 0;       // distance of a line that is touched and measured after the line; 0: none
};

class Walks {
 public:
  explicit Walks(TimedMemory& memory, std::uint64_t seed = 7) : memory_(memory), random_(seed) {}

  TimedMemory& memory() noexcept { return memory_; }
  std::mt19937_64& random() noexcept { return random_; }

  /// Whether single touches can distinguish the two costs.
  bool single_touches_tell(const LevelCosts& costs) const {
    return costs.past_ns - costs.hit_ns > 3 * memory_.resolution_ns();
  }

  /// Lines at `stride` from `first`, in random order, so that a prefetcher finds no pattern.
  std::vector<Address> lines_at(Address first, std::uint64_t stride, std::uint64_t count);

  /// The settled cost of an access in a walk over these lines, as a closed chain.
  double settled_cost(const std::vector<Address>& lines, Access access = Access::kRead);

  /// The median cost of those accesses in a settled walk that take longer than `faster_ns`, measured with single
  /// touches; 0 if they are fewer than one in 20.
  double cost_past(const std::vector<Address>& lines, double faster_ns);

  /// Whether the lines stay in the level during repeated walks.
  bool fit(const std::vector<Address>& lines, const LevelCosts& costs, const Company& company = {});

 private:
  bool fit_by_touches(const std::vector<Address>& lines, const LevelCosts& costs, const Company& company);
  bool fit_by_laps(const std::vector<Address>& lines, const LevelCosts& costs);

  TimedMemory& memory_;
  std::mt19937_64 random_;
};

}  // namespace ringside::probe
