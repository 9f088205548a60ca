// SPDX-License-Identifier: BSD-3-Clause
// The Jacobi iteration for A x = b:
//
//   x_k = D^-1 * (b - R * x_{k-1}),   x_0 = 0,   A = D + R, D its diagonal
//
// The iteration converges for any b exactly if the spectral radius of I - D^-1 A is below one, for instance if A is
// diagonally dominant. producer/solver/convergence.hpp checks whether the iteration converges.
#pragma once

#include <memory>

#include "common/kernels/isa.hpp"
#include "producer/kernels/row_layout.hpp"
#include "producer/matrix/csr_matrix.hpp"
#include "producer/solver/neighbours.hpp"
#include "producer/solver/solver_entry.hpp"

namespace ringside {

/// matrix: square, or this process's part of a square one; orientation kRows; without values every entry is 1. Uses
/// omp_get_max_threads() threads, as counted here. In addition to the matrix the solver keeps one vector (the
/// diagonal), and b if given. If the format, which cannot be kRanked, holds the matrix's entries itself, they are
/// released. isa: for tests. Neither isa nor format changes a bit of the iterates. right_side: of the whole.
/// neighbours: outlives the solver.
///
/// Throws `Error` (exit code 2) for a matrix that is empty or not square, a row without a nonzero diagonal, an entry of
/// A or b that is not finite, and a b of another length.
std::unique_ptr<Solver> make_jacobi(CsrMatrix matrix, RightSide right_side = {}, Isa isa = selected_isa(),
                                    MatrixFormat format = MatrixFormat::kAuto, Neighbours& neighbours = alone());

extern const SolverEntry kJacobiSolver;

}  // namespace ringside
