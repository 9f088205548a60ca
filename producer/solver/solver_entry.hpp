// SPDX-License-Identifier: BSD-3-Clause
// A solver's description of itself, with everything by which solvers differ outside their own files. The table
// (solver_table.cpp) has one line for each solver.
#pragma once

#include <memory>
#include <string_view>

#include "common/options/options.hpp"
#include "common/options/solver_choice.hpp"
#include "producer/matrix/csr_matrix.hpp"
#include "producer/solver/linear_system.hpp"
#include "producer/solver/neighbours.hpp"
#include "producer/solver/solver.hpp"

namespace ringside {

struct SolverEntry {
  SolverChoice choice;
  Orientation orientation;  // the orientation of the matrix

  /// For the message about a diverging run: the kind of matrix whose iteration matrix has a spectral radius below 1,
  /// such as "a diagonally dominant matrix"; empty for a solver that converges for every accepted matrix.
  std::string_view converges_for = {};

  /// The number of variables of a step, each f64[rows]: x, and the state that the next iteration needs besides x. The
  /// model of a node (docs/inside/model.md) copies and keeps this many vectors.
  int vectors = 1;

  /// Bytes per row that an iteration moves for its vectors, with stores that bypass the caches (docs/inside/kernels.md,
  /// "Bytes and instructions").
  double vector_bytes_per_row = 16;

  /// matrix: square, of that orientation, or this process's part of it; neighbours: must outlive the solver;
  /// right_side: all ones, unless the solver takes --rhs. Throws `RefusedEntry` or `Error` (exit code 2) for an
  /// unusable matrix or right side; the message names no file.
  std::unique_ptr<Solver> (*make)(CsrMatrix matrix, RightSide right_side, const SolveOptions& options,
                                  Neighbours& neighbours);
};

}  // namespace ringside
