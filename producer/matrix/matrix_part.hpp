// SPDX-License-Identifier: BSD-3-Clause
// The part of a matrix that one of several processes has: rows that follow each other, and the columns that they read.
#pragma once

#include <cstdint>
#include <optional>

#include "producer/matrix/array.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// The rows [first, last) of `whole` as a part with arrays of its own; `id` is shared, content_id stays that of
/// `whole`. Columns are numbered as in the whole. Throws Error (exit code 3) if there is no room.
CsrMatrix part_of(const CsrMatrix& whole, std::uint64_t first, std::uint64_t last);

/// Numbers the columns of a square matrix's part anew: its own rows first, from 0, then the *ghosts*, which are the
/// columns that are other processes' rows, in ascending order. `columns` becomes the number of both. Entries keep their
/// order within a row, in which their columns need not ascend any more. Returns the ghosts' numbers in the whole. A
/// whole matrix has none and stays as it is. Memory: a little more than a bit for each row of the whole.
Array<std::uint64_t> number_ghosts(CsrMatrix& part);

/// The entry on the diagonal of a row of the part, if there is one; with ghosts numbered.
std::optional<double> diagonal_at(const CsrMatrix& part, std::uint64_t row) noexcept;

}  // namespace ringside
