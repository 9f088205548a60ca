// SPDX-License-Identifier: BSD-3-Clause
// The solver and the analyzer side by side: the producer's cores make iterates continuously, and the analyzer's cores
// keep each new iterate once. So each side has the same data in the caches as in a run.
#pragma once

#include <vector>

#include "node/kernels/kernel_bench.hpp"

namespace ringside {

/// Seconds of single executions while the other side works.
struct PairSamples {
  std::vector<double> generate_s;  // one per measurement: seconds if the other side works all the time
  std::vector<double> transfer_s;  // of copies, including the reductions that are made during the copy
  std::vector<double> analyze_s;   // of reductions in the slot
};

/// Adds at least three samples of the analyzer's kernels, and one of the solver's if a step overlapped an iteration.
/// The producer has the first cores. on_the_way: the reductions are made while the iterate is copied, else in the slot.
/// Throws Error as measure_kernels does.
void measure_pair(const Workbench& bench, bool on_the_way, int producer_threads, int analyzer_threads,
                  PairSamples& samples);

}  // namespace ringside
