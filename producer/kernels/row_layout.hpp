// The form in which a matrix is multiplied, and the matrix in that form: docs/kernels.md. All forms give the same bits
// (producer/kernels/row_product.hpp), so that the choice may depend on the machine and the matrix.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "producer/kernels/packed_rows.hpp"
#include "producer/kernels/row_product.hpp"
#include "producer/kernels/row_runs.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

enum class Kernel {
  kAuto,    // by counting what an iteration and the conversion would cost (producer/kernels/kernel_choice.hpp)
  kCsr,     // rows as they lie in the matrix
  kRuns,    // rows in runs apart, the others as they lie in the matrix
  kPacked,  // rows in runs apart, the others packed
  kRanked   // all rows packed, and the vector ordered by how often its elements are read
};

/// "csr", "runs" ...
std::string_view to_string(Kernel kernel) noexcept;

/// The kernel of that name. Throws `Error` (exit code 2) for an unknown name.
Kernel kernel_named(std::string_view name);

struct RowLayout {
  Kernel kernel = Kernel::kCsr;  // never kAuto
  RowRuns rows;
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
RowLayout make_row_layout(const CsrMatrix& matrix, Kernel wanted, std::span<const double> reads);

}  // namespace ringside
