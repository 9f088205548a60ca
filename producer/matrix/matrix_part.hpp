// SPDX-License-Identifier: BSD-3-Clause
// The part of a matrix that one of several processes has: contiguous rows, and the columns that these rows read.
#pragma once

#include <cstdint>
#include <optional>

#include "producer/matrix/array.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// The rows [first, last) of `whole` as a part with its own arrays; `id` is shared, content_id stays that of `whole`.
/// Columns have the same numbers as in the whole matrix. Throws Error (exit code 3) if there is no room.
CsrMatrix part_of(const CsrMatrix& whole, std::uint64_t first, std::uint64_t last);

/// Renumbers the columns of a square matrix's part: its own rows first, from 0, then the *ghosts*, in ascending order.
/// Ghosts are columns whose indices are rows of other processes. `columns` becomes the number of own rows and ghosts.
/// Entries keep their order within a row, so their columns may no longer ascend. Returns the numbers that the ghosts
/// have in the whole matrix. A whole matrix has no ghosts and does not change. This takes a little more than one bit of
/// memory for each row of the whole matrix.
Array<std::uint64_t> number_ghosts(CsrMatrix& part);

/// The diagonal entry of a row of the part, if it exists. part: with numbered ghosts.
std::optional<double> diagonal_at(const CsrMatrix& part, std::uint64_t row) noexcept;

}  // namespace ringside
