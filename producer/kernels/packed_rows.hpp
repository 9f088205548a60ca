// Rows outside runs, copied once into the order and the form in which every iteration wants them: within a block of
// rows, those with equally many entries together (four of them side by side keep four chains of additions busy, and the
// processor predicts where they end), as one stream that is read from front to back and that names
//   - consecutive columns of a long row by the first of each eight (pages of a web site in the order of their URLs),
//   - a row with the same entries as an earlier one of its block by that row (pages made from one template).
#pragma once

#include <cstdint>
#include <vector>

#include "producer/kernels/row_product.hpp"
#include "producer/kernels/row_runs.hpp"
#include "producer/matrix/csr_matrix.hpp"

namespace ringside {

/// The rows in `RowRuns::single`. Takes what the entries took in the matrix (4 B, 8 B with a value) less what the above
/// saves, and at most 12 B a row.
struct PackedRows {
  Array<std::uint32_t> word;
  Array<double> value;  // empty for a pattern
  std::vector<PackedBlock> block;
};

/// place: where the vector's element j is to be found, for each column; null: at j. Uses all OpenMP threads; what is
/// packed does not depend on their number, where it lies in the arrays does.
PackedRows pack_rows(const CsrMatrix& matrix, const RowRuns& rows, const std::uint32_t* place);

}  // namespace ringside
