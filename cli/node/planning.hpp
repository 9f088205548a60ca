// SPDX-License-Identifier: BSD-3-Clause
// Converts the options of a run into a request to the model, for `ringside plan` and `ringside run --cores auto`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/options/options.hpp"
#include "node/plan/plan.hpp"

namespace ringside {

/// " --solver cg", to add to a command in a message; empty for the default solver.
std::string solver_words(const std::string& solver);

/// The value of --reduce for this configuration.
const char* reduce_word(const Configuration& configuration) noexcept;

/// "8 + 8 cores, --reduce slot, --elastic off"
std::string in_words(const Configuration& configuration);

/// The options that determine the time of a run. A PlannedOptions must not outlive the structs to which it refers.
struct PlannedOptions {
  const SolveOptions& solve;
  const PublishOptions& publish;
  const RingOptions& ring;
  const ReduceOptions& reduce;
  const CoreOptions& cores;
  bool elastic_given = false;  // whether the user gave --elastic; if so, the plan considers only the given value
  bool reduce_given = false;
  std::string memory;      // the name of the tier; empty: the tier of the pool's folder
  std::uint64_t rows = 0;  // 0: use the numbers of the matrix
  std::uint64_t nonzeros = 0;
};

/// Throws Error: exit code 2 if the problem's size is unknown, or if the node has no figures for the pool's memory; 3
/// if the named cores do not exist.
PlanRequest plan_request(const Node& node, const PlannedOptions& options);

/// The problem's size: from the node's figures for the matrix, from the matrix's name, or from the given sizes. Throws
/// Error as plan_request does. remarks: receives a remark if the size is uncertain, because the matrix's name gives the
/// nonzeros only approximately, or because the matrix file changed after its measurement.
ProblemSize problem_size(const Node& node, const PlannedOptions& options, std::vector<std::string>& remarks);

}  // namespace ringside
