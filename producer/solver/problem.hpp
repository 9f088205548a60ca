// SPDX-License-Identifier: BSD-3-Clause
// Makes a problem with its solver from the options: the matrix is loaded, checked against the solver's requirements and
// passed to the solver, and the problem gets its name (problem_id).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "common/handoff/run_description.hpp"
#include "common/options/options.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/solver/neighbours.hpp"
#include "producer/solver/solver.hpp"

namespace ringside {

struct Problem {
  std::unique_ptr<Solver> solver;
  RunDescription description;  // run_id: new and random; entries and nonzeros: those of the whole matrix
  std::uint64_t first_row = 0;  // the first row of this process's part; `rows` is its number of rows
  std::uint64_t rows = 0;
};

/// The matrix, or this process's part of it.
using LoadMatrix = std::function<CsrMatrix(const MatrixOptions& options, Orientation orientation)>;

/// Throws Error: exit code 2 for bad input, including a missing file; 3 if permission, memory or a cache folder is
/// lacking; 5 for a damaged matrix cache. neighbours: must outlive the problem. All processes throw the same Error,
/// which is an AgreedError, unless a process lacks memory.
Problem load_problem(const SolveOptions& options, Neighbours& neighbours = alone(),
                     const LoadMatrix& load = load_matrix);

}  // namespace ringside
