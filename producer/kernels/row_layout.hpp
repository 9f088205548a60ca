// SPDX-License-Identifier: BSD-3-Clause
// The format in which a matrix is stored and multiplied, and the matrix in that format (docs/inside/kernels.md). All
// formats give the same bits (producer/kernels/row_product.hpp), so the choice may depend on the machine and the
// matrix.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/options/solver_choice.hpp"
#include "producer/kernels/packed_rows.hpp"
#include "producer/kernels/row_bands.hpp"
#include "producer/kernels/row_product.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// The format with this name. Throws `Error` (exit code 2) for an unknown name.
MatrixFormat format_named(std::string_view name);

struct RowLayout {
  MatrixFormat format = MatrixFormat::kCsr;  // never kAuto
  RowBands rows;
  PackedRows packed;                       // exists with kPacked and kRanked
  Array<std::uint32_t> place;              // with kRanked: the place of the vector's element j
  bool scales = false;                     // the product multiplies the vector's elements by their scales
  std::vector<std::uint64_t> work_before;  // blocks + 1 values: the work of all earlier blocks, in loads

  /// Whether the product reads rows from the matrix. If not, the matrix's arrays may be released.
  bool reads_matrix() const noexcept { return packed.block.empty() && !rows.single.empty(); }

  /// Whether every row is in a band, so that a product reads almost no bytes of the matrix.
  bool is_all_bands() const noexcept { return rows.single.empty(); }

  /// Returns pointers into this layout and into `matrix`.
  RowProduct product(const CsrMatrix& matrix) const noexcept;
};

/// Uses all OpenMP threads; the choice does not depend on their number. reads: the number of reads of each vector
/// element, if the solver can read the vector in another order than the published one. Otherwise it is empty, and
/// `wanted` must not be kRanked. scale: a factor for each vector element, if the solver multiplies a pattern with a
/// scaled vector. The layout then takes over the scales (RowLayout::scales) if this saves time. Otherwise it is empty.
RowLayout make_row_layout(const CsrMatrix& matrix, MatrixFormat wanted, std::span<const double> reads,
                          std::span<const double> scale = {});

/// For each group of kGroupRows rows, the value that all its rows have, or kMixedGroup. Uses all OpenMP threads.
Array<double> group_values(std::span<const double> of_row);

}  // namespace ringside
