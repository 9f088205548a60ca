// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/linear_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/platform/error.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/matrix/symmetry.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};

/// The first index of `values` whose value is not finite, or kNone.
std::uint64_t first_not_finite(const Array<double>& values) {
  std::uint64_t bad = kNone;
#pragma omp parallel for schedule(static) reduction(min : bad)
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) bad = std::min(bad, i);
  }
  return bad;
}

}  // namespace

RightSide load_right_side(const std::string& file) {
  if (file.empty()) return {};
  const CsrMatrix matrix = load_matrix({.matrix = file}, Orientation::kRows);
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

void check_linear_system(const CsrMatrix& matrix, const RightSide& right_side, std::string_view solver,
                         Neighbours& neighbours) {
  const Array<double>& b = right_side.value;
  neighbours.together([&] {
    if (matrix.all_rows() != matrix.columns) {
      throw usage_error("the matrix has {} rows and {} columns; {} needs as many rows as columns", matrix.all_rows(),
                        matrix.columns, solver);
    }
    if (matrix.columns == 0) throw usage_error("the matrix has no rows; {} needs at least one", solver);
    if (!b.empty() && b.size() != matrix.columns) {
      throw usage_error("the right-hand side has {} values; {} needs one for each of the {} rows", b.size(), solver,
                        matrix.columns);
    }
  });
  neighbours.together([&] {
    const std::uint64_t e = first_not_finite(matrix.value);
    if (e == kNone) return;
    throw RefusedEntry(MatrixPlace::of_entry(matrix, e), fmt::format("the entry {}", matrix.value[e]),
                       fmt::format("{} accepts finite entries", solver),
                       [](double value) noexcept { return !std::isfinite(value); });
  });
  neighbours.together([&] {
    if (const std::uint64_t i = first_not_finite(b); i != kNone) {
      throw usage_error("the right-hand side is {} in row {} (counted from 1); {} accepts finite values", b[i], i + 1,
                        solver);
    }
  });
}

bool is_symmetric(const CsrMatrix& matrix, Neighbours& neighbours) {
  std::uint64_t sum = 0;
  const std::uint64_t own = asymmetry(matrix);
  neighbours.in_order(sum, [own](std::uint64_t& all) noexcept { all += own; });
  return sum == 0;
}

RightSide own_part(RightSide whole, const CsrMatrix& matrix) {
  if (whole.value.empty() || matrix.rows_elsewhere == 0) return whole;
  RightSide own{Array<double>(matrix.rows), whole.name};
  std::copy_n(whole.value.data() + matrix.first_row, matrix.rows, own.value.data());
  return own;
}

}  // namespace ringside
