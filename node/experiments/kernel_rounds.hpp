// SPDX-License-Identifier: BSD-3-Clause
// Runs several loops of the table in turn over the same arrays, as STREAM does, so that each loop's repeats spread over
// the whole measurement.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "node/experiments/result.hpp"
#include "node/model/node.hpp"
#include "node/streams/counters.hpp"
#include "node/streams/stream_table.hpp"
#include "node/streams/tier_memory.hpp"

namespace ringside {

struct RoundsSetting {
  Tier tier;
  std::vector<int> cpus;  // one thread on each
  std::uint64_t elements = 0;
  std::uint64_t apart = 1;  // the distance in elements, for StreamShape::kPastCache
  int rounds = 10;
  Pages pages = Pages::kSystem;
};

struct KernelTimes {
  const StreamKernel* kernel = nullptr;
  std::vector<double> seconds;           // the seconds of each round, including the first
  std::vector<ThreadSeries> per_thread;  // `setting` is left empty
};

struct RoundsResult {
  std::vector<KernelTimes> kernels;    // in the order given
  std::vector<CounterValue> counters;  // over all rounds
  std::string wrong;                   // the first value that differs from the loops' result; empty: none
};

/// Starts with a = 1, b = 2 and 0 in all other arrays, as STREAM does. If all kernels are STREAM's, at the end the
/// elements are compared with the same loops computed on single numbers. Throws Error (exit code 3).
RoundsResult run_rounds(std::span<const StreamKernel* const> kernels, const RoundsSetting& setting);

/// A loop's rates: the best one as STREAM reports it (that of the shortest round, without the first round), and the
/// medians.
struct Rates {
  double best_gb_s = 0;  // counted bytes
  Measured median_gb_s;  // counted bytes
  Measured moved_gb_s;
  Measured seconds;
};
Rates rates_of(const KernelTimes& times, std::uint64_t elements);

/// The table that add_counters fills, with a row for each counter of a setting.
ResultTable empty_counters_table();
void add_counters(ResultTable& table, const std::string& memory, int threads, const RoundsResult& rounds);

}  // namespace ringside
