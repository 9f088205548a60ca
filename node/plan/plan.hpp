// SPDX-License-Identifier: BSD-3-Clause
// All ways to run a problem on a node, the predicted time of each, and the choice with the least expected time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/model/node_model.hpp"
#include "node/plan/pipeline_simulation.hpp"

namespace ringside {

/// A choice is clearly faster than the default if it takes less than this share of the default's time.
inline constexpr double kClearlyFaster = 0.98;

struct PlanRequest {
  ModelRequest model;
  RunShape run;
  // The values that the user fixed; the plan has only rows with these values.
  std::optional<int> producer_threads;
  std::optional<int> analyzer_threads;
  std::optional<bool> reduce_on_transfer;
  std::optional<bool> elastic;
  std::vector<std::string> remarks;  // remarks about the request, which the plan repeats
};

struct PlanRow {
  Configuration configuration;
  Prediction prediction;  // the times for the medians of all figures
  double expected_s = 0;  // the mean of the total over the samples
  double low_s = 0;       // 90 of 100 samples are between low_s and high_s
  double high_s = 0;
};

struct Plan {
  std::vector<PlanRow> rows;         // by split, then mode
  std::size_t best = 0;              // the row with the least expected time; of several rows within half a percent, the
                                     // simplest: without elastic cores, then without reductions during the copy
  std::vector<std::string> remarks;  // about figures that were derived, scaled, assumed or left out, and why
  double exponent = 0;
  std::vector<double> capacity_bytes_s;
  std::optional<double> coupling_error;
};

/// Throws Error (exit code 2) as model_of does, and if no row fits the fixed values. The same request gives the same
/// plan.
Plan make_plan(const Node& node, const PlanRequest& request);

/// A copy of `model` with randomly drawn figures, as another measurement might give them: each kernel has one factor,
/// drawn according to its spread. seed: equal seeds give equal models.
NodeModel resampled(const NodeModel& model, std::uint64_t seed);

}  // namespace ringside
