// SPDX-License-Identifier: BSD-3-Clause
// A node of four cores with all kernels, for tests.
#pragma once

#include "node/model/node.hpp"

namespace ringside::testing {

inline Series series_of(double one_thread, int cores, double spread) {
  Series made;
  for (int threads = 1; threads <= cores; threads *= 2) {
    made.points.push_back({threads, {.value = one_thread / threads, .spread = spread}});
  }
  return made;
}

inline ProblemSize grid_of_100() {
  return {.matrix = "grid:100", .format = {}, .rows = 10'000, .nonzeros = 78'804, .file = {}};
}

/// A pair of kernels of the problem, in /dev/shm.
inline PairFigures pair_of(int first_threads, Measured first_s, int second_threads, Measured second_s) {
  PairFigures pair;
  pair.problem = grid_of_100();
  pair.tier = "/dev/shm";
  pair.first_threads = first_threads;
  pair.second_threads = second_threads;
  pair.first_s = first_s;
  pair.second_s = second_s;
  return pair;
}

inline Node four_cores(double spread = 0.02) {
  Node node;
  node.name = "four cores";
  node.origin = "a test";
  node.cores = 4;
  node.tiers = {Tier{}, Tier{}};
  node.tiers[0].name = "dram";
  node.tiers[1].name = "/dev/shm";
  node.tiers[1].kind = TierKind::kTmpfs;
  node.tiers[1].path = "/dev/shm";
  node.streams.push_back({"read", "dram", {{{1, {10, spread}}, {2, {19, spread}}, {4, {30, spread}}}}});
  const auto add = [&](KernelKind kernel, const char* tier, double one_thread) {
    KernelFigures figures;
    figures.kernel = kernel;
    figures.problem = grid_of_100();
    figures.tier = tier;
    figures.seconds = series_of(one_thread, node.cores, spread);
    node.kernels.push_back(figures);
  };
  add(KernelKind::kGenerate, "dram", 100e-6);
  add(KernelKind::kTransfer, "/dev/shm", 10e-6);
  add(KernelKind::kTransferReduced, "/dev/shm", 15e-6);
  add(KernelKind::kAnalyze, "/dev/shm", 12e-6);
  add(KernelKind::kSweep, "/dev/shm", 6e-6);
  node.costs.loan_s = Measured{.value = 1e-6};
  node.costs.wake_up_s = Measured{.value = 1e-6};
  node.costs.hand_off_s = Measured{.value = 1e-7};
  return node;
}

}  // namespace ringside::testing
