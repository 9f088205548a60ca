// SPDX-License-Identifier: BSD-3-Clause
// `--mode dram`, the baseline for comparisons with the pipeline: the same loop and the same reductions in one process.
// They run one after the other, each on all cores. No iterate is kept.
#pragma once

#include <cstdint>

#include "common/reductions/reduction.hpp"
#include "producer/solve_loop.hpp"

namespace ringside {

struct BaselineResult {
  SolveEnd end = SolveEnd::kIterationsDone;
  std::int64_t analyze_ns = 0;
  std::int64_t ended_ns = 0;  // CLOCK_MONOTONIC: the last reduction's end
  std::uint64_t last_iteration = 0;
  Reductions last;
};

/// Runs iterations 1, 2, 3 ... of the solver as the producer does. Reduces the iterates that the producer would
/// publish. As in the analyzer, a reduction makes `passes` sweeps and computes the change against the last reduced
/// iterate. Throws Error (exit code 3) if there is no room for the vectors.
BaselineResult run_baseline(const SolveRun& run, int passes);

}  // namespace ringside
