// SPDX-License-Identifier: BSD-3-Clause
// What a solver requires of a matrix, and the hash that identifies a matrix's content.
#include "producer/matrix/matrix_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/platform/error.hpp"
#include "producer/matrix/refused_entry.hpp"

namespace ringside {
namespace {

bool is_refused_weight(double weight) noexcept {
  return !(weight >= 0 && weight <= std::numeric_limits<double>::max());  // NaN too
}

}  // namespace

void check_square(const CsrMatrix& matrix, std::string_view what) {
  if (matrix.all_rows() == matrix.columns) return;
  const bool transposed = matrix.orientation == Orientation::kInLinks;
  throw usage_error("{}: found a matrix of {} rows and {} columns, expected as many rows as columns", what,
                    transposed ? matrix.columns : matrix.all_rows(), transposed ? matrix.all_rows() : matrix.columns);
}

void check_weights_for_pagerank(const CsrMatrix& matrix) {
  const std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t first_bad = none;
  const double* const value = matrix.value.data();
#pragma omp parallel for schedule(static) reduction(min : first_bad)
  for (std::uint64_t k = 0; k < matrix.value.size(); ++k) {
    if (is_refused_weight(value[k])) first_bad = std::min(first_bad, k);
  }
  if (first_bad == none) return;
  throw RefusedEntry(MatrixPlace::of_entry(matrix, first_bad), fmt::format("the weight {}", value[first_bad]),
                     "PageRank accepts finite weights of 0 or more", is_refused_weight);
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
