// SPDX-License-Identifier: BSD-3-Clause
// A sparse matrix in compressed row storage (CRS), which the readers build and with which the solvers multiply.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "common/kernels/hash.hpp"
#include "producer/matrix/array.hpp"

namespace ringside {

/// Says which index of an entry (i, j) of the input becomes the row of the CRS matrix.
enum class Orientation {
  kRows,    // row i lists the columns j: A as written (Jacobi, cg)
  kInLinks  // row j lists the sources i: the transpose, so that x_j sums over the links into j (PageRank)
};

/// Columns ascend within a row, and each column occurs only once; explicit zeros are not kept (docs/use/run.md).
/// Columns are 32-bit: the readers refuse more than 2^32 - 1 rows or columns. Nonzeros are counted in 64 bits.
struct CsrMatrix {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  Orientation orientation = Orientation::kRows;
  Array<std::uint64_t> row_begin;  // rows + 1 offsets into `column`; row r's entries are [row_begin[r], row_begin[r+1])
  Array<std::uint32_t> column;     // nonzeros
  Array<double> value;             // nonzeros; or empty for a pattern, in which every entry is 1
  // The names of the rows in ascending order, if they are not 0 .. rows-1 in the input (an edge list with gaps in its
  // ids); else empty.
  Array<std::uint64_t> id;
  Id128 content_id;  // hash of shape, orientation and the arrays: equal content has an equal id

  // If several processes share a matrix, each has a part: contiguous rows (matrix_part.hpp). `rows` and `row_begin`
  // describe the part; `columns` and `id` describe the whole matrix.
  std::uint64_t first_row = 0;       // the part's first row in the whole matrix
  std::uint64_t rows_elsewhere = 0;  // rows of the whole matrix outside the part

  std::uint64_t all_rows() const noexcept { return rows + rows_elsewhere; }
  std::uint64_t nonzeros() const noexcept { return column.size(); }
  bool is_pattern() const noexcept { return value.empty() && !column.empty(); }
};

/// The entry at this place, if it exists. row: a row of the part.
inline std::optional<double> entry_at(const CsrMatrix& matrix, std::uint64_t row, std::uint64_t column) noexcept {
  const std::uint32_t* const first = matrix.column.data() + matrix.row_begin[row];
  const std::uint32_t* const last = matrix.column.data() + matrix.row_begin[row + 1];
  const std::uint32_t* const found = std::lower_bound(first, last, static_cast<std::uint32_t>(column));
  if (found == last || *found != column) return std::nullopt;
  return matrix.value.empty() ? 1.0 : matrix.value[static_cast<std::size_t>(found - matrix.column.data())];
}

/// Frees the entries' memory; shape, names and content_id stay.
inline void release_entries(CsrMatrix& matrix) noexcept {
  matrix.row_begin = {};
  matrix.column = {};
  matrix.value = {};
}

}  // namespace ringside
