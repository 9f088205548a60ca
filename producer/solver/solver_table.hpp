// SPDX-License-Identifier: BSD-3-Clause
// The table of solvers. Everything that differs between solvers outside their own files is an entry of it: the name and
// the help of `--solver`, the options that a solver takes, the orientation of its matrix, an example of matrices for
// which it converges, and how it is made.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "common/options/options.hpp"
#include "common/options/solver_choice.hpp"
#include "producer/matrix/csr_matrix.hpp"
#include "producer/solver/right_side.hpp"
#include "producer/solver/solver.hpp"

namespace ringside {

struct SolverEntry {
  SolverChoice choice;
  Orientation orientation;  // of the matrix

  /// For the message about a diverging run: which matrices have an iteration matrix with a spectral radius below 1, as
  /// "a diagonally dominant one"; empty for a solver that converges for every matrix it accepts.
  std::string_view converges_for = {};

  /// matrix: square, of that orientation; right_side: all ones, unless the solver takes --rhs. Throws `RefusedEntry` or
  /// `Error` (exit code 2) for a matrix or a right side that the solver cannot use; the message names no file.
  std::unique_ptr<Solver> (*make)(CsrMatrix matrix, RightSide right_side, const SolveOptions& options);
};

/// All of them, in the order in which help and messages list them.
std::span<const SolverEntry> solvers() noexcept;

/// What the declaration of the options is made from.
SolverChoices solver_choices();

/// Throws Error (exit code 2) for an unknown name.
const SolverEntry& solver_named(std::string_view name);

/// Throws Error (exit code 2) if `options` hold one that `solver` does not take.
void refuse_options_not_taken(const SolverChoice& solver, const SolveOptions& options);

}  // namespace ringside
