// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients (Hestenes and Stiefel, 1952) for A x = b with a symmetric positive definite A:
//
//   q = A p_{k-1},  alpha = rho_{k-1} / p_{k-1}.q
//   x_k = x_{k-1} + alpha p_{k-1},  r_k = r_{k-1} - alpha q,  rho_k = r_k.r_k
//   p_k = r_k + (rho_k / rho_{k-1}) p_{k-1}                         x_0 = 0,  r_0 = p_0 = b
//
// x_k alone does not determine x_{k+1}, so a step contains x, r, p and rho. The criterion is |r_k| / |b| in the 2-norm.
// r is the residual of the recurrence, which differs from b - A x by rounding.
#pragma once

#include <memory>

#include "common/kernels/isa.hpp"
#include "producer/kernels/row_layout.hpp"
#include "producer/solver/neighbours.hpp"
#include "producer/solver/solver_entry.hpp"

namespace ringside {

/// matrix: a square matrix, or this process's part of one; orientation kRows; without values every entry is 1. The
/// solver uses as many threads as omp_get_max_threads() returns during this call. In addition to the matrix, it keeps
/// one vector (q), and b if b is given. The format cannot be kRanked. If the format has its own copy of the matrix's
/// entries, the matrix's copy is released. isa: for tests. Neither isa nor format changes a bit of a step. right_side:
/// that of the whole matrix. neighbours: must outlive the solver.
///
/// Throws `Error` (exit code 2) for a matrix that is empty, not square or not symmetric; for a row without a number
/// above 0 on the diagonal; for an entry of A or b that is not finite; and for a b of another length. The largest
/// magnitude of b must be 0, or between 1e-100 and 1e100; otherwise it also throws. If A is not positive definite, this
/// is noticed only while the system is solved (Solver::breakdown).
std::unique_ptr<Solver> make_cg(CsrMatrix matrix, RightSide right_side = {}, Isa isa = selected_isa(),
                                MatrixFormat format = MatrixFormat::kAuto, Neighbours& neighbours = alone());

extern const SolverEntry kCgSolver;

}  // namespace ringside
