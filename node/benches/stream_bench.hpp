// SPDX-License-Identifier: BSD-3-Clause
// STREAM loops (node/streams) over arrays in one tier, at least four times as large as the last-level caches if there
// is room. The arrays are made once and used by every thread count in turn.
#pragma once

#include <string>
#include <vector>

#include "node/model/node.hpp"
#include "node/streams/tier_memory.hpp"

namespace ringside {

class StreamBench {
 public:
  /// cpus: the measuring CPUs, at least one, in the order in which threads take them. elements: doubles in each array.
  /// Throws Error (exit code 3) if there is no room.
  StreamBench(const Tier& tier, std::vector<int> cpus, std::uint64_t elements);

  /// Adds samples of a loop's rate in GB/s, counted bytes. kernel: a name of the table (node/streams/stream_table).
  void measure(const std::string& kernel, int threads, std::vector<double>& samples) const;

  int most_threads() const noexcept { return static_cast<int>(cpus_.size()); }

 private:
  std::vector<int> cpus_;
  std::uint64_t elements_;
  std::vector<TierMemory> arrays_;
};

/// The number of doubles in an array. An array has four times the size of the last-level caches, but all arrays
/// together take at most an eighth of the tier's available memory (for DRAM: half of it). If an array would then be
/// smaller than the caches, its rate would not be the memory's: returns 0. Planning requires figures of DRAM, so for
/// DRAM the result is what the room permits, never 0.
std::uint64_t stream_elements_for(const Tier& tier, std::uint64_t cache_bytes);

}  // namespace ringside
