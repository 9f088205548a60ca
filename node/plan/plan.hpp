// SPDX-License-Identifier: BSD-3-Clause
// All ways to run a problem on a node, the predicted time of each, and the choice: the least expected time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/model/node_model.hpp"
#include "node/plan/pipeline_simulation.hpp"

namespace ringside {

struct PlanRequest {
  ModelRequest model;
  RunShape run;
  // What the user fixed; the plan has rows for nothing else.
  std::optional<int> producer_threads;
  std::optional<int> analyzer_threads;
  std::optional<bool> reduce_on_transfer;
  std::optional<bool> elastic;
  std::vector<std::string> remarks;  // what the request leaves out, for the plan
};

struct PlanRow {
  Configuration configuration;
  Prediction prediction;  // from the medians of all figures
  double expected_s = 0;  // the mean of the total over the samples
  double low_s = 0;       // 90 of 100 samples lie between these
  double high_s = 0;
};

struct Plan {
  std::vector<PlanRow> rows;         // by split, then mode
  std::size_t best = 0;              // the row with the least expected time; of those within half a percent, the
                                     // simplest: no elastic cores, then no reducing copy
  std::vector<std::string> remarks;  // what was derived, scaled, assumed or left out, and why
  double exponent = 0;
  std::vector<double> capacity_bytes_s;
  std::optional<double> coupling_error;
};

/// Throws Error (exit code 2): as model_of, and if nothing fits what the user fixed. The same request gives the same
/// plan.
Plan make_plan(const Node& node, const PlanRequest& request);

/// A model whose figures are drawn from their spread, each kernel's by one factor: what another measurement could have
/// given. seed: the same gives the same.
NodeModel resampled(const NodeModel& model, std::uint64_t seed);

}  // namespace ringside
