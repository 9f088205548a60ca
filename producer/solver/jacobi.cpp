// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/jacobi.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/platform/error.hpp"
#include "producer/kernels/block_parts.hpp"
#include "producer/kernels/jacobi_kernel.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/matrix/symmetry.hpp"
#include "producer/solver/compensated_sum.hpp"

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
    throw RefusedEntry(MatrixPlace::of_entry(matrix, e), fmt::format("the entry {}", matrix.value[e]),
                       "Jacobi accepts finite entries", [](double value) noexcept { return !std::isfinite(value); });
  }
  if (const std::uint64_t i = first_not_finite(b); i != kNone) {
    throw usage_error("the right-hand side is {} in row {} (counted from 1); Jacobi accepts finite values", b[i],
                      i + 1);
  }
}

class Jacobi final : public Solver {
 public:
  Jacobi(CsrMatrix matrix, RightSide right_side, Isa isa, MatrixFormat format)
      : matrix_(std::move(matrix)),
        nonzeros_(matrix_.nonzeros()),
        right_side_(std::move(right_side)),
        kernels_(*select(&plain::kJacobiKernels, &avx2::kJacobiKernels, &avx512::kJacobiKernels, isa)),
        layout_(make_row_layout(matrix_, format, {})),
        parts_(BlockParts::by_work(layout_.work_before, openmp_)),
        diagonal_(matrix_.rows),
        sums_(block_count(matrix_.rows)) {
    find_diagonal();
    growth_limit_ = jacobi_growth_limit(matrix_, diagonal_);
    if (!layout_.reads_matrix()) release_entries(matrix_);
  }

  std::uint64_t rows() const noexcept override { return matrix_.rows; }
  std::uint64_t nonzeros() const noexcept override { return nonzeros_; }
  std::string_view format() const noexcept override { return to_string(layout_.format); }
  std::string parameters() const override { return "right_side=" + right_side_.name; }
  /// Other rows of the old vector are read after row i of the new one is written.
  bool may_overwrite_previous() const noexcept override { return false; }
  double growth_limit() const noexcept override { return growth_limit_; }

  void share_among(Team& team) override { parts_ = BlockParts::by_work(layout_.work_before, team); }

  void start(void* payload) const noexcept override {
    auto* const x = static_cast<double*>(payload);
    parts_.for_each([&](std::uint64_t first, std::uint64_t last) {
      std::fill(x + first * kBlockRows, x + std::min(last * kBlockRows, matrix_.rows), 0.0);
    });
  }

  /// The solver keeps nothing between iterations.
  void prepare(const void*, std::span<const std::uint64_t>) noexcept override {}

  Change iterate(const void* previous, void* next) noexcept override {
    const JacobiPass pass = {.product = layout_.product(matrix_),
                             .diagonal = diagonal_.data(),
                             .right_side = right_side_.value.empty() ? nullptr : right_side_.value.data(),
                             .previous = static_cast<const double*>(previous),
                             .next = static_cast<double*>(next)};
    parts_.for_each(
        [&](std::uint64_t first, std::uint64_t last) { kernels_.iterate(pass, first, last, sums_.data()); });
    CompensatedSum l1;
    Change change;
    for (const JacobiBlockSums& sums : sums_) {
      l1.add(sums.change_l1);
      change.linf = std::max(change.linf, sums.change_linf);
    }
    change.l1 = l1.value();
    change.criterion = change.l1;
    return change;
  }

 private:
  void find_diagonal() {
    constexpr double kMissing = std::numeric_limits<double>::infinity();  // entries are finite
    parts_.for_each([&](std::uint64_t first_block, std::uint64_t last_block) {
      for (std::uint64_t row = first_block * kBlockRows; row < std::min(last_block * kBlockRows, matrix_.rows); ++row) {
        const std::uint32_t* first = matrix_.column.data() + matrix_.row_begin[row];
        const std::uint32_t* last = matrix_.column.data() + matrix_.row_begin[row + 1];
        const std::uint32_t* found = std::lower_bound(first, last, static_cast<std::uint32_t>(row));
        const bool present = found != last && *found == row;
        diagonal_[row] = !present ? kMissing
                         : matrix_.value.empty()
                             ? 1.0
                             : matrix_.value[static_cast<std::size_t>(found - matrix_.column.data())];
      }
    });
    for (std::uint64_t row = 0; row < matrix_.rows; ++row) {
      if (diagonal_[row] != kMissing && diagonal_[row] != 0) continue;
      throw RefusedEntry(MatrixPlace::of_row(matrix_, row),
                         fmt::format("{} on the diagonal", diagonal_[row] == kMissing ? "no entry" : "a zero"),
                         "Jacobi divides by it and accepts rows with a number other than zero there");
    }
  }

  CsrMatrix matrix_;  // without its entries where the layout has them
  std::uint64_t nonzeros_;
  RightSide right_side_;
  const JacobiKernels& kernels_;
  RowLayout layout_;
  OpenMpTeam openmp_;  // until another team is given
  BlockParts parts_;
  Array<double> diagonal_;
  double growth_limit_ = 0;
  std::vector<JacobiBlockSums> sums_;
};

}  // namespace

std::unique_ptr<Solver> make_jacobi(CsrMatrix matrix, RightSide right_side, Isa isa, MatrixFormat format) {
  if (matrix.orientation != Orientation::kRows) {
    throw std::logic_error("make_jacobi needs a matrix of orientation kRows");
  }
  if (format == MatrixFormat::kRanked) throw std::logic_error("make_jacobi cannot use the format kRanked");
  check(matrix, right_side);
  return std::make_unique<Jacobi>(std::move(matrix), std::move(right_side), isa, format);
}

const SolverEntry kJacobiSolver = {
    .choice = {.name = "jacobi", .help = "solves A x = b", .rhs = true},
    .orientation = Orientation::kRows,
    .converges_for = "a diagonally dominant one",
    .make =
        [](CsrMatrix matrix, RightSide right_side, const SolveOptions& options) {
          return make_jacobi(std::move(matrix), std::move(right_side), selected_isa(),
                             format_named(options.matrix_format));
        },
};

}  // namespace ringside
