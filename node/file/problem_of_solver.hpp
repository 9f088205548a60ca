// SPDX-License-Identifier: BSD-3-Clause
// The model knows a solver only by its name and by the bytes that it moves. Both come from the table of solvers, so the
// node file needs only the name.
#pragma once

#include <string>

#include "node/model/node.hpp"
#include "producer/solver/solver_table.hpp"

namespace ringside {

/// A problem of this solver whose matrix is not known yet. Throws Error (exit code 2) for an unknown solver.
inline ProblemSize problem_of_solver(const std::string& solver) {
  const SolverEntry& entry = solver_named(solver);
  ProblemSize size;
  size.solver = solver;
  size.vectors = entry.vectors;
  size.vector_bytes_per_row = entry.vector_bytes_per_row;
  return size;
}

}  // namespace ringside
