// SPDX-License-Identifier: BSD-3-Clause
// The options with which a rank attaches: which of them are refused, and which must be the same on all ranks. This file
// does not use MPI.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/handoff/handoff_options.hpp"
#include "common/handoff/run_description.hpp"
#include "common/ranks/boxes.hpp"
#include "common/results/result_description.hpp"
#include "common/schema/variable.hpp"

namespace ringside::mpi {

/// The options of a rank: `variables` have global shapes, and `boxes` are this rank's boxes.
struct RankOptions {
  HandoffOptions handoff;
  RunDescription run;
  std::vector<Variable> variables;
  std::vector<Box> boxes;
  std::vector<Scalar> scalars;
};

/// Checks names, dtypes, roles and units. The shapes are not checked, because the shapes of the whole run may exceed
/// the limits of a schema. Throws Error (exit code 2).
void check_variables(std::vector<Variable> variables);

/// Throws Error (exit code 2) for options that are not possible with several ranks.
void check_policies(const HandoffOptions& options);

/// Everything that must be equal on all ranks, as text that a message can show.
std::string common_text(const RankOptions& options);

/// The parts of both texts that begin shortly before the first difference between the texts.
std::pair<std::string, std::string> differing(const std::string& own, const std::string& other);

}  // namespace ringside::mpi
