// SPDX-License-Identifier: BSD-3-Clause
// Our own kernels on one problem and one kind of memory, each alone on the machine. An iterate is made, then kept, then
// the next one is made, so that data are in the same caches as in a run. The producer's threads have the first cores,
// the analyzer's threads the last ones. If there are too few cores, the same threads do the work of both sides, as
// elastic cores do.
#pragma once

#include <vector>

#include "common/handoff/run_description.hpp"
#include "common/ring/storage.hpp"
#include "node/kernels/iterate_source.hpp"
#include "node/kernels/step_keeper.hpp"

namespace ringside {

/// The objects that a run works on.
struct Workbench {
  IterateSource& source;
  RingPool& pool;
  RunDescription run;
  Durability durability = Durability::kProcess;
  std::vector<int> cpus;  // all that a run may use, the producer's first
};

/// Iterating for this many seconds gives the caches the content that they have in a long run; a problem that fits into
/// them needs about ten iterations.
inline constexpr double kWarmUpS = 0.03;

/// Seconds of single executions.
struct KernelSamples {
  std::vector<double> generate_s;
  std::vector<double> transfer_s;
  std::vector<double> transfer_reduced_s;
  std::vector<double> analyze_s;
  std::vector<double> sweep_s;
  std::vector<double> commit_s;
};

/// Adds at least one sample of each kernel with `threads` threads, and more samples of short kernels. threads: at most
/// the number of cores. Throws Error (exit code 3) if a thread cannot be started or the disk fails.
void measure_kernels(const Workbench& bench, int threads, KernelSamples& samples);

}  // namespace ringside
