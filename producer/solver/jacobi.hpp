// SPDX-License-Identifier: BSD-3-Clause
// The Jacobi iteration for A x = b:
//
//   x_k = D^-1 * (b - R * x_{k-1}),   x_0 = 0,   A = D + R, D its diagonal
//
// The iteration converges for any b if and only if the spectral radius of I - D^-1 A is below one, for instance if A is
// diagonally dominant. producer/solver/convergence.hpp checks whether the iteration converges.
#pragma once

#include <memory>

#include "common/kernels/isa.hpp"
#include "producer/kernels/row_layout.hpp"
#include "producer/matrix/csr_matrix.hpp"
#include "producer/solver/neighbours.hpp"
#include "producer/solver/solver_entry.hpp"

namespace ringside {

/// matrix: a square matrix, or this process's part of one; orientation kRows; without values every entry is 1. The
/// solver uses as many threads as omp_get_max_threads() returns during this call. In addition to the matrix, it keeps
/// one vector (the diagonal), and b if b is given. The format cannot be kRanked. If the format has its own copy of the
/// matrix's entries, the matrix's copy is released. isa: for tests. Neither isa nor format changes a bit of the
/// iterates. right_side: that of the whole matrix. neighbours: must outlive the solver.
///
/// Throws `Error` (exit code 2) for a matrix that is empty or not square, a row without a nonzero diagonal, an entry of
/// A or b that is not finite, and a b of another length.
std::unique_ptr<Solver> make_jacobi(CsrMatrix matrix, RightSide right_side = {}, Isa isa = selected_isa(),
                                    MatrixFormat format = MatrixFormat::kAuto, Neighbours& neighbours = alone());

extern const SolverEntry kJacobiSolver;

}  // namespace ringside
