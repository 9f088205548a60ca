// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/jacobi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/threads/openmp_team.hpp"
#include "producer/kernels/block_parts.hpp"
#include "producer/kernels/jacobi_kernel.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/matrix/symmetry.hpp"
#include "producer/solver/compensated_sum.hpp"
#include "producer/solver/linear_system.hpp"

namespace ringside {
namespace {

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
        diagonal_[row] = entry_at(matrix_, row, row).value_or(kMissing);
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
  check_linear_system(matrix, right_side, "Jacobi");
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
