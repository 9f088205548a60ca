// SPDX-License-Identifier: BSD-3-Clause
// PageRank by power iteration (Brin and Page, 1998); the mass of dangling nodes is spread over all nodes:
//
//   x_k = (1 - d)/n + d * w_{k-1}/n + d * A * x_{k-1},   x_0 = 1/n
//
// A is column-stochastic: a link i -> j of weight v carries v / (sum of the weights leaving i) of x_i to j; w is the
// mass on nodes without outgoing links. Each iteration reads and writes memory in one pass: the pass that makes x_i
// also computes the contribution of x_i to each of its links, d * x_i / (sum of weights). On a mesh, the product
// computes contributions where it needs them, and none are stored.
#pragma once

#include <memory>

#include "common/kernels/isa.hpp"
#include "producer/kernels/row_layout.hpp"
#include "producer/matrix/csr_matrix.hpp"
#include "producer/solver/neighbours.hpp"
#include "producer/solver/solver_entry.hpp"

namespace ringside {

/// matrix: a square matrix, or this process's part of one; orientation kInLinks, without values for an unweighted
/// graph; damping: d, inside (0, 1). The solver uses as many threads as omp_get_max_threads() returns during this call.
/// In addition to the matrix, it keeps three vectors (on a mesh, one); each thread first touches its own part. If the
/// format holds the matrix's entries itself, they are released. isa: for tests; an instruction set that the processor
/// lacks ends the process with an illegal instruction. Neither isa nor format changes a bit of the iterates.
/// neighbours: must outlive the solver.
///
/// Throws `Error` (exit code 2) for a damping outside (0, 1), a matrix that is empty or not square, and a weight that
/// is negative, not finite, or too extreme for its node's weights to be normalised.
std::unique_ptr<Solver> make_pagerank(CsrMatrix matrix, double damping, Isa isa = selected_isa(),
                                      MatrixFormat format = MatrixFormat::kAuto, Neighbours& neighbours = alone());

extern const SolverEntry kPagerankSolver;

}  // namespace ringside
