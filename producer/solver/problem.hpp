// SPDX-License-Identifier: BSD-3-Clause
// From options to a problem with its solver: the matrix is loaded, checked for what the solver needs and given to it,
// and the problem gets its name (problem_id).
#pragma once

#include <memory>

#include "common/handoff/run_description.hpp"
#include "common/options/options.hpp"
#include "producer/solver/solver.hpp"

namespace ringside {

struct Problem {
  std::unique_ptr<Solver> solver;
  RunDescription description;  // run_id fresh and random
};

/// Throws Error: exit code 2 for bad input, including a missing file; 3 if permission, memory or a cache folder is
/// lacking; 5 for a damaged matrix cache.
Problem load_problem(const SolveOptions& options);

}  // namespace ringside
