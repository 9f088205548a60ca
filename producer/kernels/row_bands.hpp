// SPDX-License-Identifier: BSD-3-Clause
// Regular groups of rows in a sparse matrix, found once and used in every iteration. A *band* is a group of
// neighbouring rows with equally many entries whose columns all advance by one from row to row, as in every mesh or
// stencil. If the entries have values, all rows of a band have the same values. Sums over the rows of a band need no
// gather: entry j of its rows t, t+1, t+2 ... multiplies x[c_j + t], a plain vector load, by one weight.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "producer/kernels/row_product.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// The rows of a matrix, block by block (producer/kernels/block_rows.hpp). Every row is either in a band or in the list
/// of single rows. In addition to the matrix this takes at most 2 B per row and 1/8 of the bytes of the columns and
/// values. (With scales, it takes more: 8 B for each band, and 12 B for each entry of a band's first row.)
struct RowBands {
  std::vector<RowBand> band;
  std::vector<std::uint32_t> band_column;  // the columns of each band's first row, band after band
  std::vector<double> band_weight;    // the factor of each of these columns in all rows of its band; empty: all are 1
  std::vector<std::uint16_t> single;  // the other rows, offsets into their block, by ascending number of entries
  std::vector<RowBandsBlock> block;   // blocks + 1 entries: where each block's part of the lists begins
};

/// Uses all OpenMP threads; the result does not depend on their number. If the matrix has values, those of a band's
/// first row become the band's weights. Without `look_for_bands`, all rows are single.
RowBands find_row_bands(const CsrMatrix& matrix, bool look_for_bands = true);

/// The number of entries in bands, of the blocks [first, last).
std::uint64_t entries_in_bands(const RowBands& rows, std::uint64_t first, std::uint64_t last) noexcept;

/// The bands of a pattern, divided where the scale of one of their columns changes, so that the scales become their
/// weights. The product of these bands with x has the same bits as the product of `rows` with the vector of
/// x_j * scale_j. scale: a factor for every element of the vector; no NaN. The single rows of the result are those of
/// `rows`. No result if there were more than `most_bands` bands, so that a graph with many different scales takes
/// little time and memory. Uses all OpenMP threads.
std::optional<RowBands> with_scales(const RowBands& rows, std::span<const double> scale, std::uint64_t most_bands);

}  // namespace ringside
