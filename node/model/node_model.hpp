// SPDX-License-Identifier: BSD-3-Clause
// Converts the figures of a node to the times of a run's kernels: for one problem, in one tier, with any number of
// threads, alone and side by side. Missing figures are derived (node/model/derived_kernels) or scaled from another
// problem; docs/inside/model.md has each formula and its origin.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "node/model/kernel_time.hpp"
#include "node/model/node.hpp"

namespace ringside {

inline constexpr std::size_t kKernelKindCount = 6;

/// One kernel, for the problem and the tier of the model.
struct KernelModel {
  Series seconds;             // the seconds of one execution alone
  std::vector<double> bytes;  // moved through each group of channels in one execution
  double spread = 0;          // the relative spread of the seconds
};

struct NodeModel {
  int cores = 0;
  double exponent = 0;  // q
  Sharing sharing = Sharing::kMaxMin;
  std::vector<double> capacity_bytes_s;  // the capacity of each group of channels, when saturated
  double capacity_spread = 0;            // relative
  std::array<std::optional<KernelModel>, kKernelKindCount> kernels;
  std::vector<PairFigures> pairs;        // the pairs of exactly this problem and tier
  std::optional<double> coupling_error;  // mean relative error for pairs not used in the fit; empty: no such pair
  Costs costs;
  std::optional<Measured> sync_s;  // the sync of the tier's disk, if commits need one
  std::optional<Measured> sync_gb_s;
  std::vector<std::string> remarks;  // about figures that were derived, scaled or assumed

  const KernelModel* find(KernelKind kernel) const noexcept {
    const auto& found = kernels[static_cast<std::size_t>(kernel)];
    return found ? &*found : nullptr;
  }
};

struct ModelRequest {
  ProblemSize problem;
  std::string tier;     // the tier of the slots
  bool synced = false;  // --durability power where stores need a sync
};

/// Whether both problems have the same matrix. If both have a file, compares the path, size, times and inode of the
/// files. Otherwise compares the matrices' names as given to --matrix; an empty name equals every name.
bool same_matrix(const ProblemSize& a, const ProblemSize& b);

/// Throws Error (exit code 2) if the node has no such tier, no STREAM rate for the channels of DRAM or of that tier, or
/// no figures for the time of an iteration, a copy or a sweep.
NodeModel model_of(const Node& node, const ModelRequest& request);

/// The kernel with `threads` threads. The kernel must be in the model.
KernelTime kernel_time(const NodeModel& model, KernelKind kernel, int threads);

/// Seconds of the two kernels side by side: the measured ones if the node has exactly this pair, else those of the
/// formula.
Together together(const NodeModel& model, KernelKind first, int first_threads, KernelKind second, int second_threads);

}  // namespace ringside
