// SPDX-License-Identifier: BSD-3-Clause
// Two kernels side by side: the producer's cores make iterates without end, the analyzer's copy or reduce without end.
// An execution counts only if both were at work from its beginning to its end.
#pragma once

#include <vector>

#include "node/calibration/kernel_bench.hpp"
#include "node/model/node.hpp"

namespace ringside {

struct PairSamples {
  std::vector<double> first_s;
  std::vector<double> second_s;
};

/// Adds at least three samples of each. second: kTransfer, kTransferReduced or kAnalyze; the first is kGenerate, on the
/// first cores. Throws as measure_kernels does.
void measure_pair(const Workbench& bench, KernelKind second, int first_threads, int second_threads,
                  PairSamples& samples);

}  // namespace ringside
