// SPDX-License-Identifier: BSD-3-Clause
// The SIDE x SIDE grid graph: every cell is linked in both directions with its up to 8 neighbours, but not with itself.
// Cell (y, x) is row y * SIDE + x. grid:2000 is the workload of the published experiments (4,000,000 rows, 31,976,004
// entries).
#pragma once

#include <cstdint>

#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// The number of links of all cells above line y (0 to side), which is the offset of its first cell's entries. For
/// y = side, the number of all links. A cell has (cells in reach vertically) * (cells in reach horizontally) - 1
/// neighbours. In a line of n cells, a cell reaches 3 cells of the line, or 2 if it is at an end; these numbers add up
/// to 3n - 2.
constexpr std::uint64_t grid_links_above(std::uint32_t side, std::uint32_t y) noexcept {
  const std::uint64_t n = side;
  const std::uint64_t line_reach = 3 * n - 2;
  const std::uint64_t reach_above = y == 0 ? 0 : y == side ? line_reach : 3 * std::uint64_t{y} - 1;
  return reach_above * line_reach - y * n;
}

/// The number of links of all cells before `row` (0 to side * side): the offset of its entries.
constexpr std::uint64_t grid_links_before(std::uint32_t side, std::uint64_t row) noexcept {
  const std::uint64_t n = side;
  const auto y = static_cast<std::uint32_t>(row / n);
  const std::uint64_t x = row % n;
  const std::uint64_t reach = n == 1 ? 1 : y == 0 || y == side - 1 ? 2 : 3;
  return grid_links_above(side, y) + (x == 0 ? 0 : reach * (3 * x - 1) - x);
}

/// side: 1 to 65535, because more would exceed 32-bit columns. The result is a pattern, built by all OpenMP threads.
/// The graph equals its transpose, so `orientation` is only recorded. Throws `Error` (exit code 3) if memory is
/// lacking.
CsrMatrix make_grid(std::uint32_t side, Orientation orientation);

/// The grid's part with the rows [first, last), without a content_id.
CsrMatrix make_grid_part(std::uint32_t side, Orientation orientation, std::uint64_t first, std::uint64_t last);

}  // namespace ringside
