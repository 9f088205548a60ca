// SPDX-License-Identifier: BSD-3-Clause
// What a rank is given when it attaches: what it may not ask for, and what must be the same on all ranks. No MPI here.
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

/// What a rank is given: `variables` have global shapes, `boxes` are this rank's.
struct RankOptions {
  HandoffOptions handoff;
  RunDescription run;
  std::vector<Variable> variables;
  std::vector<Box> boxes;
  std::vector<Scalar> scalars;
};

/// Names, dtypes, roles and units; the shapes, which are those of the whole run, may be larger than any schema's. Throws
/// Error (exit code 2).
void check_variables(std::vector<Variable> variables);

/// Throws Error (exit code 2) for what ranks cannot do.
void check_policies(const HandoffOptions& options);

/// All that must be equal on all ranks, as text that a message can show.
std::string common_text(const RankOptions& options);

/// Both texts from the first difference on, a little before it.
std::pair<std::string, std::string> differing(const std::string& own, const std::string& other);

}  // namespace ringside::mpi
