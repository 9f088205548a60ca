// SPDX-License-Identifier: BSD-3-Clause
// Copies that compete for a node's channels, predicted from its STREAM rates only. Compared with published
// competitions, this shows the error of the model's bandwidth sharing (docs/inside/model.md, "The published
// competitions").
#pragma once

#include <string>
#include <vector>

#include "node/model/kernel_time.hpp"
#include "node/model/node.hpp"

namespace ringside {

class PredictedCopies {
 public:
  /// node: must have STREAM's copy in DRAM and in `tier`, and these two tiers must share channels. Throws Error (exit
  /// code 2) if one of the tiers lacks rates.
  PredictedCopies(const Node& node, const std::string& tier);

  /// Relative errors of both groups' rates, row by row. The first group copies within DRAM. accesses: the number of
  /// accesses of the second group to `tier` for each element: 0 to 2.
  std::vector<double> errors(const Competition& competition, int accesses) const;

 private:
  KernelTime copy(int threads, int accesses) const;

  double capacity_bytes_s_;
  double q_;
  Series access_s_;     // the additional seconds of an access in the tier, compared with DRAM
  double dram_core_s_;  // core seconds for a copied element
};

}  // namespace ringside
