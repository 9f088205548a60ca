// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/simulated_memory.hpp"

#include <algorithm>

namespace ringside::probe {

/// One level: its sets and its prefetcher's state.
class SimulatedCache {
 public:
  explicit SimulatedCache(const CacheLevel& level)
      : level_(level), sets_(level.sets(), CacheSet(level.ways, level.replacement)) {}

  const CacheLevel& level() const noexcept { return level_; }
  std::uint64_t line_of(Address address) const noexcept { return address / level_.line_bytes; }

  CacheSet& set_of(std::uint64_t line) noexcept {
    std::uint64_t digits = line;
    if (level_.index == Index::kXor && sets_.size() > 1) {
      for (std::uint64_t rest = line / sets_.size(); rest != 0; rest /= sets_.size()) digits ^= rest;
    }
    return sets_[digits % sets_.size()];
  }

  /// The line that a prefetcher would fetch after this miss, or kNoLine.
  std::uint64_t foreseen(std::uint64_t line) noexcept {
    if (level_.prefetch == Prefetch::kNextLine) return line + 1;
    const std::uint64_t stride = line - last_line_;
    const bool steady = stride == last_stride_ && stride != 0 && stride + 64 <= 128;  // at most 64 lines up or down
    last_stride_ = stride;
    last_line_ = line;
    return level_.prefetch == Prefetch::kStride && steady ? line + stride : CacheSet::kNoLine;
  }

 private:
  CacheLevel level_;
  std::vector<CacheSet> sets_;
  std::uint64_t last_line_ = 0;
  std::uint64_t last_stride_ = 0;
};

SimulatedMemory::SimulatedMemory(const CacheSpec& spec) : spec_(spec), random_(spec.seed) {
  for (const CacheLevel& level : spec.levels) caches_.emplace_back(level);
}

SimulatedMemory::~SimulatedMemory() = default;

Address SimulatedMemory::fresh(std::uint64_t bytes) {
  const Address first = next_fresh_;
  constexpr std::uint64_t kGap = std::uint64_t{1} << 32;  // prefetches end in this gap; it keeps the alignment
  next_fresh_ += (bytes / kGap + 2) * kGap;
  return first;
}

double SimulatedMemory::touch(Address address, Access access) {
  ++touches_;
  double cost = exact_cost(0, address, access == Access::kWrite);
  cost *= std::max(0.2, 1 + spec_.noise * normal_(random_));
  if (spec_.spikes > 0 && std::uniform_real_distribution<double>()(random_) < spec_.spikes) {
    cost += spec_.memory_read_ns * std::uniform_real_distribution<double>(1, 5)(random_);
  }
  return cost;
}

/// The cost of an access that arrives at `level`. For the processor, a write from a nearer level has no cost until it
/// reaches the memory.
double SimulatedMemory::exact_cost(std::size_t level, Address address, bool write) {
  if (level == caches_.size()) {
    if (!write) return spec_.memory_read_ns;
    return spec_.posted_writes ? 0 : spec_.memory_write_ns;
  }
  SimulatedCache& cache = caches_[level];
  const CacheLevel& is = cache.level();
  const double hit_ns = write && level > 0 ? 0 : is.hit_ns;
  const std::uint64_t line = cache.line_of(address);
  const bool hit = cache.set_of(line).use(line, write && is.write_back);
  double cost = hit_ns;
  if (!hit) {
    if (write && !is.write_allocate) return hit_ns + exact_cost(level + 1, address, true);
    cost = exact_cost(level + 1, address, false);
    cost += fill(level, address, write && is.write_back);
  }
  if (write && !is.write_back) cost += exact_cost(level + 1, address, true);
  if (is.prefetch == Prefetch::kStride || !hit) prefetch(level, address);
  return cost;
}

double SimulatedMemory::fill(std::size_t level, Address address, bool dirty) {
  SimulatedCache& cache = caches_[level];
  const std::uint64_t line = cache.line_of(address);
  const CacheSet::Victim victim = cache.set_of(line).insert(line, dirty, random_);
  if (victim.line == CacheSet::kNoLine || !victim.dirty) return 0;
  return exact_cost(level + 1, victim.line * cache.level().line_bytes, true);
}

void SimulatedMemory::prefetch(std::size_t level, Address address) {
  SimulatedCache& cache = caches_[level];
  if (cache.level().prefetch == Prefetch::kNone) return;
  const std::uint64_t ahead = cache.foreseen(cache.line_of(address));
  if (ahead == CacheSet::kNoLine || cache.set_of(ahead).holds(ahead)) return;
  fill(level, ahead * cache.level().line_bytes, false);  // no access waits for a prefetch
}

}  // namespace ringside::probe
