// SPDX-License-Identifier: BSD-3-Clause
// Moves the rows of a distributed matrix between ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "producer/matrix/csr_matrix.hpp"

namespace ringside::mpi {

/// The rows [first, last).
struct Rows {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t count() const noexcept { return last - first; }
};

/// The rows of rank `rank` in a matrix of `rows` rows. border: ranks + 1 blocks (producer/kernels/block_rows.hpp).
Rows rows_of(const std::vector<std::uint64_t>& border, int rank, std::uint64_t rows) noexcept;

/// Moves rows: the part of rank r was the blocks [from[r], from[r + 1]) and becomes the blocks [to[r], to[r + 1]).
/// part: its column numbers are those of the whole matrix. `id` and content_id do not change. Collective.
CsrMatrix moved(MPI_Comm ranks, const CsrMatrix& part, const std::vector<std::uint64_t>& from,
                const std::vector<std::uint64_t>& to);

}  // namespace ringside::mpi
