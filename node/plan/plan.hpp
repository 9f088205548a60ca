// SPDX-License-Identifier: BSD-3-Clause
// All ways to run a problem on a node, the predicted time of each, and the choice with the least expected time.
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
  // The values that the user fixed; the plan has only rows with these values.
  std::optional<int> producer_threads;
  std::optional<int> analyzer_threads;
  std::optional<bool> reduce_on_transfer;
  std::optional<bool> elastic;
  std::vector<std::string> remarks;  // the limits of the request, for the plan
};

struct PlanRow {
  Configuration configuration;
  Prediction prediction;  // the times for the medians of all figures
  double expected_s = 0;  // the mean of the total over the samples
  double low_s = 0;       // 90 of 100 samples lie between low_s and high_s
  double high_s = 0;
};

struct Plan {
  std::vector<PlanRow> rows;         // by split, then mode
  std::size_t best = 0;              // the row with the least expected time; of those within half a percent, the
                                     // simplest: no elastic cores, then no reducing copy
  std::vector<std::string> remarks;  // about figures that were derived, scaled, assumed or left out, and why
  double exponent = 0;
  std::vector<double> capacity_bytes_s;
  std::optional<double> coupling_error;
};

/// Throws Error (exit code 2) as model_of does, and if no row fits the fixed values. The same request gives the same
/// plan.
Plan make_plan(const Node& node, const PlanRequest& request);

/// A model with figures drawn from their spread, with one factor per kernel, as another measurement might give them.
/// seed: equal seeds give equal models.
NodeModel resampled(const NodeModel& model, std::uint64_t seed);

}  // namespace ringside
