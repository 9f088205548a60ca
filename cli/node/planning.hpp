// SPDX-License-Identifier: BSD-3-Clause
// From the options of a run to what the model is asked: for `ringside plan` and for `ringside run --cores auto`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/options/options.hpp"
#include "node/plan/plan.hpp"

namespace ringside {

/// The value of --reduce for a way to run.
const char* reduce_word(const Configuration& configuration) noexcept;

/// "8 + 8 cores, --reduce slot, --elastic off"
std::string in_words(const Configuration& configuration);

/// The options that decide the time of a run. The referred structs outlive this one.
struct PlannedOptions {
  const SolveOptions& solve;
  const PublishOptions& publish;
  const RingOptions& ring;
  const ReduceOptions& reduce;
  const CoreOptions& cores;
  bool elastic_given = false;  // then the plan has nothing else
  bool reduce_given = false;
  std::string memory;      // the name of the tier; empty: where the pool lies
  std::uint64_t rows = 0;  // 0: those of the matrix
  std::uint64_t nonzeros = 0;
};

/// Throws Error: exit code 2 if the size of the problem is not known, or if the node has no figures for the memory of
/// the pool; 3 if the cores that were named do not exist.
PlanRequest plan_request(const Node& node, const PlannedOptions& options);

/// The size of the problem, from the node's figures for that matrix, from its name, or from the sizes given. Throws as
/// above. remarks: gets one if the size may be another, because the name announces only about how many nonzeros there
/// are, or the matrix file was changed after it was measured.
ProblemSize problem_size(const Node& node, const PlannedOptions& options, std::vector<std::string>& remarks);

}  // namespace ringside
