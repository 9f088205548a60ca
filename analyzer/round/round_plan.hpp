// SPDX-License-Identifier: BSD-3-Clause
// What the analyzer of a node has to know of a run of several nodes to take part in its rounds: its place among them, its
// neighbours, and which entries of each whole field are its own.
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
  Id128 problem_id;  // of the whole run
  std::uint32_t node = 0;
  std::uint32_t nodes = 0;
  std::string next_address;  // of the node after this one; after the last one the first
  std::string next_key;
  std::string previous_key;
  std::string ranks;    // of the whole run: "0 to 7"
  std::string regions;  // which entries this node keeps, as its run's parameters end
  Schema whole;                                 // the variables with the shapes of the whole run
  std::vector<std::optional<PartPlace>> places;  // of this node's part, by variable
  /// By variable: it is a field, so there are results of the whole.
  std::vector<bool> has_results;
  /// By variable: its parts are boxes that do not follow each other from node to node.
  std::vector<bool> in_boxes;

  bool collects() const noexcept { return node == 0; }
  /// The parameters of the whole run, from those of this node.
  std::string own_parameters(const std::string& with_regions) const;
};

/// Nothing if there is no round: the run has one node, or a node has no address.
std::optional<RoundPlan> round_plan(const RanksFile& ranks);

}  // namespace ringside
