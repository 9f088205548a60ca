// What a solver asks of a matrix before it starts, and the hash that names a matrix's content.
#include "producer/matrix_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "common/error.hpp"

namespace ringside {

void check_square(const CsrMatrix& matrix, std::string_view what) {
  if (matrix.rows == matrix.columns) return;
  const bool transposed = matrix.orientation == Orientation::kInLinks;
  throw usage_error("{}: found a matrix of {} rows and {} columns, expected as many rows as columns", what,
                    transposed ? matrix.columns : matrix.rows, transposed ? matrix.rows : matrix.columns);
}

void check_weights_for_pagerank(const CsrMatrix& matrix, std::string_view what) {
  const std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t first_bad = none;
  const double* const value = matrix.value.data();
#pragma omp parallel for schedule(static) reduction(min : first_bad)
  for (std::uint64_t k = 0; k < matrix.value.size(); ++k) {
    if (!(value[k] >= 0 && value[k] <= std::numeric_limits<double>::max())) first_bad = std::min(first_bad, k);
  }
  if (first_bad == none) return;

  const auto row_after = std::upper_bound(matrix.row_begin.begin(), matrix.row_begin.end(), first_bad);
  std::uint64_t from = static_cast<std::uint64_t>(row_after - matrix.row_begin.begin()) - 1;
  std::uint64_t to = matrix.column[first_bad];
  if (matrix.orientation == Orientation::kInLinks) std::swap(from, to);
  if (matrix.id.empty()) {
    throw usage_error(
        "{}: found the weight {} in row {}, column {} (from 1), PageRank accepts finite weights from 0 up", what,
        value[first_bad], from + 1, to + 1);
  }
  throw usage_error("{}: found the weight {} on the edge {} {}, PageRank accepts finite weights from 0 up", what,
                    value[first_bad], matrix.id[from], matrix.id[to]);
}

Id128 hash_content(const CsrMatrix& matrix) {
  struct {
    std::uint64_t rows, columns, nonzeros, orientation;
    Id128 row_begin, column, value, id;
  } const content{matrix.rows,
                  matrix.columns,
                  matrix.nonzeros(),
                  static_cast<std::uint64_t>(matrix.orientation),
                  hash128_parallel(matrix.row_begin.data(), matrix.row_begin.bytes()),
                  hash128_parallel(matrix.column.data(), matrix.column.bytes()),
                  hash128_parallel(matrix.value.data(), matrix.value.bytes()),
                  hash128_parallel(matrix.id.data(), matrix.id.bytes())};
  return hash128(&content, sizeof content);
}

}  // namespace ringside
