// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/right_side.hpp"

#include <cstdint>

#include "common/platform/error.hpp"
#include "producer/matrix/matrix_source.hpp"

namespace ringside {

RightSide load_right_side(const std::string& file) {
  if (file.empty()) return {};
  const CsrMatrix matrix = load_matrix({.matrix = file, .cache = false, .cache_dir = {}}, Orientation::kRows);
  if (matrix.columns != 1) {
    throw usage_error("--rhs: {} has {} columns, expected 1 (in an archive, ARCHIVE:MEMBER names the file)", file,
                      matrix.columns);
  }
  RightSide b{Array<double>(matrix.rows), to_string(matrix.content_id)};
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e) {
      b.value[row] = matrix.value.empty() ? 1.0 : matrix.value[e];
    }
  }
  return b;
}

}  // namespace ringside
