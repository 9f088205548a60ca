// SPDX-License-Identifier: BSD-3-Clause
// Walks over lines, and what they tell of one level of caches: which share of the accesses went past it once the walk
// has settled. Every probe of size and ways asks only this. It does not depend on replacement: lines that fit together
// stay together after enough laps, under every policy, and lines that do not fit miss at least once a lap.
#pragma once

#include <random>
#include <vector>

#include "memory/probe/timed_memory.hpp"

namespace ringside::probe {

/// Costs of one level: of an access that it answers, and of one that goes past it.
struct LevelCosts {
  double hit_ns = 0;
  double past_ns = 0;
  double disturbed_ns = 1e300;  // no access takes that long: an interrupt did, and the cost says nothing
  double limit_ns() const { return (hit_ns + past_ns) / 2; }
};

/// What is touched with each line of a walk.
struct Company {
  std::vector<Address> before = {};  // so that no nearer level can answer; in other sets of this level
  std::uint64_t neighbour = 0;       // distance of a line touched, and asked, after it; 0: none
};

class Walks {
 public:
  explicit Walks(TimedMemory& memory, std::uint64_t seed = 7) : memory_(memory), random_(seed) {}

  TimedMemory& memory() noexcept { return memory_; }
  std::mt19937_64& random() noexcept { return random_; }

  /// Whether single touches can tell the two costs apart.
  bool single_touches_tell(const LevelCosts& costs) const {
    return costs.past_ns - costs.hit_ns > 3 * memory_.resolution_ns();
  }

  /// Lines at `stride` from `first`, in random order: a prefetcher finds nothing to foresee.
  std::vector<Address> lines_at(Address first, std::uint64_t stride, std::uint64_t count);

  /// The settled cost of an access in a walk over these lines, in a closed chain.
  double settled_cost(const std::vector<Address>& lines, Access access = Access::kRead);

  /// The costs of the accesses that take longer than `faster_ns`, single touches of a settled walk: their median; 0 if
  /// fewer than one in 20 does.
  double cost_past(const std::vector<Address>& lines, double faster_ns);

  /// Whether the lines stay in the level when they are walked again and again.
  bool fit(const std::vector<Address>& lines, const LevelCosts& costs, const Company& company = {});

 private:
  bool fit_by_touches(const std::vector<Address>& lines, const LevelCosts& costs, const Company& company);
  bool fit_by_laps(const std::vector<Address>& lines, const LevelCosts& costs);

  TimedMemory& memory_;
  std::mt19937_64 random_;
};

}  // namespace ringside::probe
