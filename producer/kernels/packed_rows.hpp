// SPDX-License-Identifier: BSD-3-Clause
// Rows outside bands, copied once into the order and form in which every iteration reads them. Within a block, rows
// with equally many entries are adjacent. So four rows can be summed side by side in four chains of additions, and the
// processor predicts where the rows end. The copy is one stream that is read from front to back. It describes
//   - consecutive columns of a long row by the first of each eight (pages of a web site in the order of their URLs);
//   - a row with the same entries as an earlier row of its block by that earlier row (pages made from one template).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "producer/kernels/row_bands.hpp"
#include "producer/kernels/row_product.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// The rows in `RowBands::single`. They take as much memory as their entries in the matrix (4 B per entry, 8 B per
/// value), minus the above savings, plus at most 12 B per row.
struct PackedRows {
  Array<std::uint32_t> word;
  Array<double> value;  // empty for a pattern
  std::vector<PackedBlock> block;
};

/// place: for each column j, the place of the vector's element j; if null, the place is j. scale: for a pattern; if not
/// empty, the entries of column j get the value scale[j]. Uses all OpenMP threads. The number of threads does not
/// affect the packed content, only its place in the arrays.
PackedRows pack_rows(const CsrMatrix& matrix, const RowBands& rows, const std::uint32_t* place,
                     std::span<const double> scale = {});

}  // namespace ringside
