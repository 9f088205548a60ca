// SPDX-License-Identifier: BSD-3-Clause
// There is a formula for the grid's offsets, so every thread writes its rows of the CRS arrays directly, without
// counting.
#include "producer/matrix/grid.hpp"

#include <algorithm>

#include "producer/matrix/csr_builder.hpp"
#include "producer/matrix/matrix_checks.hpp"
#include "producer/memory/matrix_memory.hpp"

namespace ringside {

CsrMatrix make_grid_part(std::uint32_t side, Orientation orientation, std::uint64_t first, std::uint64_t last) {
  const std::uint64_t n = side;
  const std::uint64_t links_before = grid_links_before(side, first);
  const std::uint64_t nonzeros = grid_links_before(side, last) - links_before;
  const std::uint64_t rows = last - first;

  require_memory((rows + 1) * sizeof(std::uint64_t) + nonzeros * sizeof(std::uint32_t));
  CsrMatrix matrix;
  matrix.rows = rows;
  matrix.columns = n * n;
  matrix.orientation = orientation;
  matrix.first_row = first;
  matrix.rows_elsewhere = n * n - rows;
  matrix.row_begin = Array<std::uint64_t>(rows + 1, Holds::kMatrix);
  matrix.column = Array<std::uint32_t>(nonzeros, Holds::kMatrix);
  will_be_streamed(matrix.row_begin.data(), matrix.row_begin.bytes());
  will_be_streamed(matrix.column.data(), matrix.column.bytes());
  std::uint64_t* const row_begin = matrix.row_begin.data();
  std::uint32_t* const column = matrix.column.data();

  const std::uint64_t last_line = (last + n - 1) / n;
#pragma omp parallel for schedule(static)
  for (std::uint64_t y = first / n; y < last_line; ++y) {
    const std::uint64_t first_y = y == 0 ? 0 : y - 1;
    const std::uint64_t last_y = std::min(y + 1, n - 1);
    const std::uint64_t begin = std::max(y * n, first);
    const std::uint64_t end = std::min((y + 1) * n, last);
    std::uint64_t next = grid_links_before(side, begin) - links_before;
    for (std::uint64_t row = begin; row < end; ++row) {
      const std::uint64_t x = row - y * n;
      const std::uint64_t first_x = x == 0 ? 0 : x - 1;
      const std::uint64_t last_x = std::min(x + 1, n - 1);
      row_begin[row - first] = next;
      for (std::uint64_t neighbour_y = first_y; neighbour_y <= last_y; ++neighbour_y) {
        for (std::uint64_t neighbour_x = first_x; neighbour_x <= last_x; ++neighbour_x) {
          if (neighbour_y == y && neighbour_x == x) continue;
          column[next++] = static_cast<std::uint32_t>(neighbour_y * n + neighbour_x);
        }
      }
    }
  }
  row_begin[rows] = nonzeros;
  return matrix;
}

CsrMatrix make_grid(std::uint32_t side, Orientation orientation) {
  CsrMatrix matrix = make_grid_part(side, orientation, 0, std::uint64_t{side} * side);
  matrix.content_id = hash_content(matrix);
  return matrix;
}

}  // namespace ringside
