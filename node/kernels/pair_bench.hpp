// SPDX-License-Identifier: BSD-3-Clause
// Two kernels side by side: the producer's cores make iterates without end, the analyzer's copy or reduce without end.
// An execution counts only if both were at work from its beginning to its end.
#pragma once

#include <vector>

#include "node/kernels/kernel_bench.hpp"
#include "node/model/node.hpp"

namespace ringside {

struct PairSamples {
  std::vector<double> first_s;
  std::vector<double> second_s;
  std::vector<double> analyze_s;  // of whole steps, see below
};

/// Adds at least three samples of each. second: kTransfer, kTransferReduced or kAnalyze; the first is kGenerate, on the
/// first cores. With Durability::kPower and kTransfer the analyzer's side makes whole steps, which it also reduces in
/// the slot, so that the disk gets as much to write as in a run. Throws as measure_kernels does.
void measure_pair(const Workbench& bench, KernelKind second, int first_threads, int second_threads,
                  PairSamples& samples);

}  // namespace ringside
