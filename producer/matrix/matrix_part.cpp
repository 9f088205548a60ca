// SPDX-License-Identifier: BSD-3-Clause
#include "producer/matrix/matrix_part.hpp"

#include <algorithm>

#include "producer/matrix/id_map.hpp"

namespace ringside {

CsrMatrix part_of(const CsrMatrix& whole, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t begin = whole.row_begin[first];
  const std::uint64_t entries = whole.row_begin[last] - begin;
  CsrMatrix part;
  part.rows = last - first;
  part.columns = whole.columns;
  part.orientation = whole.orientation;
  part.id = whole.id;
  part.content_id = whole.content_id;
  part.first_row = first;
  part.rows_elsewhere = whole.rows - part.rows;
  part.row_begin = Array<std::uint64_t>(part.rows + 1, Holds::kMatrix);
  part.column = Array<std::uint32_t>(entries, Holds::kMatrix);
  for (std::uint64_t row = 0; row <= part.rows; ++row) part.row_begin[row] = whole.row_begin[first + row] - begin;
  std::copy_n(whole.column.data() + begin, entries, part.column.data());
  if (!whole.value.empty()) {
    part.value = Array<double>(entries, Holds::kMatrix);
    std::copy_n(whole.value.data() + begin, entries, part.value.data());
  }
  return part;
}

Array<std::uint64_t> number_ghosts(CsrMatrix& part) {
  if (part.rows_elsewhere == 0) return {};
  IdBitmap ghosts(part.columns);
  const std::uint64_t first = part.first_row;
  const std::uint64_t rows = part.rows;
#pragma omp parallel for schedule(static)
  for (std::uint64_t e = 0; e < part.nonzeros(); ++e) {
    if (part.column[e] - first >= rows) ghosts.mark(part.column[e]);  // true also below `first`
  }
  const std::uint64_t count = ghosts.count_up_to(part.columns - 1);
#pragma omp parallel for schedule(static)
  for (std::uint64_t e = 0; e < part.nonzeros(); ++e) {
    const std::uint64_t column = part.column[e];
    part.column[e] = static_cast<std::uint32_t>(column - first < rows ? column - first : rows + ghosts.rank(column));
  }
  part.columns = rows + count;
  return ghosts.ids(count);
}

std::optional<double> diagonal_at(const CsrMatrix& part, std::uint64_t row) noexcept {
  if (part.columns == part.rows) return entry_at(part, row, row);
  const std::uint32_t* const first = part.column.data() + part.row_begin[row];
  const std::uint32_t* const last = part.column.data() + part.row_begin[row + 1];
  const std::uint32_t* const found = std::find(first, last, static_cast<std::uint32_t>(row));
  if (found == last) return std::nullopt;
  return part.value.empty() ? 1.0 : part.value[static_cast<std::size_t>(found - part.column.data())];
}

}  // namespace ringside
