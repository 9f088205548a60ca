// SPDX-License-Identifier: BSD-3-Clause
// `ringside plan --nodes`: the options of a run of many nodes, its simulation, and the result as a table and as JSON.
#pragma once

#include <string>
#include <vector>

#include "common/json/json.hpp"
#include "common/options/options.hpp"
#include "node/scale/scale_model.hpp"

namespace ringside {

struct ManyNodesOptions {
  std::vector<int> nodes;
  int ranks_per_node = 1;
  std::string network = "infiniband";
  std::string coupling = "all";
  std::string progress = "calls";
  std::string spread = "0.05";
  double slow_solver = 1;
  double slow_analyzer = 1;
  double turn_cost_us = 140;
  std::string step_figures;
};

void declare(CommandLine& line, ManyNodesOptions& options);

struct ManyNodes {
  ScaleRequest request;  // the request of the last row
  std::vector<ScaleResult> rows;
};

/// The figures of the node, as --step-figures describes them. Throws Error (exit code 2).
NodeFigures figures_given(const ManyNodesOptions& options, const PublishOptions& publish, const RingOptions& ring);

/// If the options have a single number of nodes, all smaller powers of 4 are also simulated. Throws Error (exit code
/// 2).
ManyNodes simulate_many(const ManyNodesOptions& options, const NodeFigures& node, const SolveOptions& solve);

std::string many_nodes_table(const ManyNodes& simulated);

/// One object: the request (in seconds and bytes) and the rows.
Json to_json(const ManyNodes& simulated);

}  // namespace ringside
