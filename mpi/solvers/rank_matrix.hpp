// SPDX-License-Identifier: BSD-3-Clause
// A matrix that all ranks load together. Each rank keeps its own rows, which are whole blocks. The blocks are divided
// so that all ranks have about the same work.
#pragma once

#include "mpi/solvers/rank_neighbours.hpp"
#include "producer/matrix/csr_matrix.hpp"
#include "producer/matrix/matrix_source.hpp"

namespace ringside::mpi {

/// Returns this rank's part, and sets in `ranks` which rank has which rows. content_id identifies the whole matrix. It
/// does not depend on the number of ranks, but differs from the content_id that a single process computes. Throws
/// AgreedError with the line and exit code of load_matrix, or Error if this rank lacks memory. Collective.
CsrMatrix load_rank_matrix(const MatrixOptions& options, Orientation orientation, RankNeighbours& ranks);

}  // namespace ringside::mpi
