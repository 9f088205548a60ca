// SPDX-License-Identifier: BSD-3-Clause
// The format in which a matrix is stored and multiplied, and the matrix in that format: docs/inside/kernels.md. All
// formats give the same bits (producer/kernels/row_product.hpp), so that the choice may depend on the machine and the
// matrix.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "common/options/matrix_format.hpp"
#include "producer/kernels/packed_rows.hpp"
#include "producer/kernels/row_bands.hpp"
#include "producer/kernels/row_product.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// The format of that name. Throws `Error` (exit code 2) for an unknown name.
MatrixFormat format_named(std::string_view name);

struct RowLayout {
  MatrixFormat format = MatrixFormat::kCsr;  // never kAuto
  RowBands rows;
  PackedRows packed;                       // with kPacked and kRanked
  Array<std::uint32_t> place;              // with kRanked: where element j of the vector lies
  std::vector<std::uint64_t> work_before;  // blocks + 1: the work of the blocks before, in loads

  /// Whether rows are read from the matrix; if not, its arrays may be released.
  bool reads_matrix() const noexcept { return packed.block.empty() && !rows.single.empty(); }

  /// Pointers into this layout and into `matrix`.
  RowProduct product(const CsrMatrix& matrix) const noexcept;
};

/// Uses all OpenMP threads; the choice does not depend on their number. reads: how often each element of the vector is
/// read, if the solver can read it in another order than it is published in; else empty, and `wanted` is not kRanked.
RowLayout make_row_layout(const CsrMatrix& matrix, MatrixFormat wanted, std::span<const double> reads);

}  // namespace ringside
