// SPDX-License-Identifier: BSD-3-Clause
// The data with which a node's analyzer takes part in the rounds of a run: its place among the nodes, its neighbours,
// and its own entries of each whole field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/kernels/hash.hpp"
#include "common/ranks/ranks_file.hpp"
#include "common/reductions/whole/step_parts.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

struct RoundPlan {
  Id128 attachment;
  Id128 problem_id;  // the problem of the whole run
  std::uint32_t node = 0;
  std::uint32_t nodes = 0;
  std::string next_address;  // the address of the next node; on the last node, that of the first node
  std::string next_key;
  std::string previous_key;
  std::string ranks;    // the ranks of the whole run: "0 to 7"
  std::string regions;  // the entries that this node keeps, in the form that ends its run's parameters
  Schema whole;         // the variables with the shapes of the whole run
  std::vector<std::optional<PartPlace>> places;  // for each variable: the place of this node's part
  /// For each variable: whether it is a field, so that the whole run has results of this variable.
  std::vector<bool> has_results;
  /// For each variable: whether its parts are boxes that do not directly follow each other from node to node.
  std::vector<bool> in_boxes;

  bool collects() const noexcept { return node == 0; }
  /// The parameters of the whole run, computed from those of this node.
  std::string own_parameters(const std::string& with_regions) const;
};

/// Empty if there is no round: the run has one node, or a node has no address.
std::optional<RoundPlan> round_plan(const RanksFile& ranks);

}  // namespace ringside
