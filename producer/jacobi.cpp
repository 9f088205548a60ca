#include "producer/jacobi.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/error.hpp"
#include "producer/block_parts.hpp"
#include "producer/compensated_sum.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};

std::string row_name(const CsrMatrix& matrix, std::uint64_t row) {
  if (!matrix.id.empty()) return fmt::format("row {} (its id in the input)", matrix.id[row]);
  return fmt::format("row {} (counted from 1)", row + 1);
}

/// The first index of `values` whose value is not finite, or kNone.
std::uint64_t first_not_finite(const Array<double>& values) {
  std::uint64_t bad = kNone;
#pragma omp parallel for schedule(static) reduction(min : bad)
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) bad = std::min(bad, i);
  }
  return bad;
}

void check(const CsrMatrix& matrix, const RightSide& right_side) {
  if (matrix.rows != matrix.columns) {
    throw usage_error("the matrix has {} rows and {} columns; Jacobi needs as many rows as columns", matrix.rows,
                      matrix.columns);
  }
  if (matrix.rows == 0) throw usage_error("the matrix has no rows; Jacobi needs at least one");
  const Array<double>& b = right_side.value;
  if (!b.empty() && b.size() != matrix.rows) {
    throw usage_error("the right-hand side has {} values; Jacobi needs one for each of the {} rows", b.size(),
                      matrix.rows);
  }
  if (const std::uint64_t e = first_not_finite(matrix.value); e != kNone) {
    const std::uint64_t* row_end = std::upper_bound(matrix.row_begin.begin(), matrix.row_begin.end(), e);
    const auto row = static_cast<std::uint64_t>(row_end - matrix.row_begin.begin()) - 1;
    throw usage_error("{} has the entry {} in column {}; Jacobi accepts finite entries", row_name(matrix, row),
                      matrix.value[e],
                      matrix.id.empty() ? matrix.column[e] + std::uint64_t{1} : matrix.id[matrix.column[e]]);
  }
  if (const std::uint64_t i = first_not_finite(b); i != kNone) {
    throw usage_error("the right-hand side is {} at {}; Jacobi accepts finite values", b[i], row_name(matrix, i));
  }
}

class Jacobi final : public Solver {
 public:
  Jacobi(CsrMatrix matrix, RightSide right_side)
      : matrix_(std::move(matrix)),
        right_side_(std::move(right_side)),
        parts_(matrix_.row_begin.span(), openmp_),
        diagonal_(matrix_.rows),
        sums_(block_count(matrix_.rows)) {
    find_diagonal();
  }

  std::string_view name() const noexcept override { return "jacobi"; }
  std::uint64_t rows() const noexcept override { return matrix_.rows; }
  std::uint64_t nonzeros() const noexcept override { return matrix_.nonzeros(); }
  std::string parameters() const override { return "right_side=" + right_side_.name; }
  /// Other rows of the old vector are read after row i of the new one is written.
  bool may_overwrite_previous() const noexcept override { return false; }

  void share_among(Team& team) override { parts_ = BlockParts(matrix_.row_begin.span(), team); }

  void start(double* x) const noexcept override {
    for_each_block([&](std::uint64_t, std::uint64_t begin, std::uint64_t end) { std::fill(x + begin, x + end, 0.0); });
  }

  /// The solver keeps nothing between iterations.
  void prepare(const double*) noexcept override {}

  Residual iterate(const double* previous, double* next) noexcept override {
    if (matrix_.value.empty()) {
      for_each_block([&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
        sums_[block] = iterate_rows<false>(previous, next, begin, end);
      });
    } else {
      for_each_block([&](std::uint64_t block, std::uint64_t begin, std::uint64_t end) {
        sums_[block] = iterate_rows<true>(previous, next, begin, end);
      });
    }
    CompensatedSum l1;
    Residual residual;
    for (const Residual& sum : sums_) {
      l1.add(sum.l1);
      residual.linf = std::max(residual.linf, sum.linf);
    }
    residual.l1 = l1.value();
    return residual;
  }

 private:
  /// Calls work(block, first_row, last_row) for every block.
  template <class Work>
  void for_each_block(const Work& work) const {
    parts_.for_each([&](std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t b = first; b < last; ++b)
        work(b, b * kBlockRows, std::min((b + 1) * kBlockRows, matrix_.rows));
    });
  }

  void find_diagonal() {
    for_each_block([&](std::uint64_t, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t row = begin; row < end; ++row) {
        const std::uint32_t* first = matrix_.column.data() + matrix_.row_begin[row];
        const std::uint32_t* last = matrix_.column.data() + matrix_.row_begin[row + 1];
        const std::uint32_t* found = std::lower_bound(first, last, static_cast<std::uint32_t>(row));
        const bool present = found != last && *found == row;
        diagonal_[row] = present ? static_cast<std::uint32_t>(found - first) : kNoDiagonal;
      }
    });
    for (std::uint64_t row = 0; row < matrix_.rows; ++row) {
      const bool missing = diagonal_[row] == kNoDiagonal;
      if (!missing && (matrix_.value.empty() || matrix_.value[matrix_.row_begin[row] + diagonal_[row]] != 0)) continue;
      throw usage_error("{} has {} on the diagonal; Jacobi divides by it and needs one that is not zero in every row",
                        row_name(matrix_, row), missing ? "no entry" : "a zero");
    }
  }

  // Row i: x_i = (b_i - sum over its entries off the diagonal, in column order, of a_ij * previous_j) / a_ii.
  // Bytes per row: 8 (row_begin) + 4 (diagonal) + 8 (previous) + 16 (next; plain stores read the line first), + 8 with
  // a given b; per nonzero: 4 (column) + 8 (value) and one gathered load.
  template <bool kValues>
  Residual iterate_rows(const double* previous, double* next, std::uint64_t begin, std::uint64_t end) const noexcept {
    const double* b = right_side_.value.empty() ? nullptr : right_side_.value.data();
    Residual residual;
    for (std::uint64_t row = begin; row < end; ++row) {
      const std::uint64_t diagonal = matrix_.row_begin[row] + diagonal_[row];
      double rest = b != nullptr ? b[row] : 1.0;
      const auto subtract = [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t e = first; e < last; ++e) {
          const double x = previous[matrix_.column[e]];
          rest -= kValues ? matrix_.value[e] * x : x;
        }
      };
      subtract(matrix_.row_begin[row], diagonal);
      subtract(diagonal + 1, matrix_.row_begin[row + 1]);
      const double x = kValues ? rest / matrix_.value[diagonal] : rest;
      const double change = std::fabs(x - previous[row]);
      residual.l1 += change;
      residual.linf = change > residual.linf ? change : residual.linf;
      next[row] = x;
    }
    return residual;
  }

  static constexpr std::uint32_t kNoDiagonal = ~std::uint32_t{0};

  CsrMatrix matrix_;
  RightSide right_side_;
  OpenMpTeam openmp_;  // until another team is given
  BlockParts parts_;
  Array<std::uint32_t> diagonal_;  // offset of a row's diagonal among its entries
  std::vector<Residual> sums_;     // of each block
};

}  // namespace

std::unique_ptr<Solver> make_jacobi(CsrMatrix matrix, RightSide right_side) {
  if (matrix.orientation != Orientation::kRows) {
    throw std::logic_error("make_jacobi needs a matrix of orientation kRows");
  }
  check(matrix, right_side);
  return std::make_unique<Jacobi>(std::move(matrix), std::move(right_side));
}

}  // namespace ringside
