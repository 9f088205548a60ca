// SPDX-License-Identifier: BSD-3-Clause
// A memory behind simulated caches with a known geometry. It is used to check the probes. The cost of an access is the
// cost of the level that answers, plus noise. Equal seeds and touches give equal costs.
#pragma once

#include <vector>

#include "memory/probe/cache_spec.hpp"
#include "memory/probe/timed_memory.hpp"

namespace ringside::probe {

class SimulatedCache;

class SimulatedMemory final : public TimedMemory {
 public:
  explicit SimulatedMemory(const CacheSpec& spec);
  ~SimulatedMemory() override;

  Address fresh(std::uint64_t bytes) override;
  double touch(Address address, Access access) override;
  double resolution_ns() const override { return 0; }
  std::uint64_t most_bytes() const override { return std::uint64_t{1} << 40; }

  std::uint64_t touches() const noexcept { return touches_; }

 private:
  double exact_cost(std::size_t level, Address address, bool write);
  double fill(std::size_t level, Address address, bool dirty);
  void prefetch(std::size_t level, Address address);

  CacheSpec spec_;
  std::vector<SimulatedCache> caches_;
  Address next_fresh_ = Address{1} << 40;
  std::uint64_t touches_ = 0;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace ringside::probe
