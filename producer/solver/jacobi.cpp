// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/jacobi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/threads/openmp_team.hpp"
#include "producer/kernels/block_parts.hpp"
#include "producer/kernels/jacobi_kernel.hpp"
#include "producer/kernels/streaming.hpp"
#include "producer/matrix/matrix_part.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/matrix/symmetry.hpp"
#include "producer/solver/compensated_sum.hpp"
#include "producer/solver/linear_system.hpp"

namespace ringside {
namespace {

class Jacobi final : public Solver {
 public:
  Jacobi(CsrMatrix matrix, RightSide right_side, Isa isa, MatrixFormat format, Neighbours& neighbours)
      : neighbours_(neighbours),
        matrix_(std::move(matrix)),
        nonzeros_(matrix_.nonzeros()),
        symmetric_(is_symmetric(matrix_, neighbours)),
        ghosts_(number_ghosts(matrix_)),
        right_side_(own_part(std::move(right_side), matrix_)),
        stream_(exceed_cache(matrix_.rows, right_side_.value.empty() ? 2 : 3)),
        kernels_(*select(&plain::kJacobiKernels, &avx2::kJacobiKernels, &avx512::kJacobiKernels, isa)),
        layout_(make_row_layout(matrix_, format, {})),
        parts_(BlockParts::by_work(layout_.work_before, openmp_)),
        sets_(find_block_sets(matrix_)),
        diagonal_(matrix_.rows),
        sums_(block_count(matrix_.rows)) {
    share_among(openmp_);
    find_diagonal();
    group_diagonal_ = group_values(diagonal_.span());
    find_growth_limit();
    neighbours_.expect(matrix_, ghosts_.span(), {});
    if (!layout_.reads_matrix()) release_entries(matrix_);
  }

  std::uint64_t rows() const noexcept override { return matrix_.all_rows(); }
  std::uint64_t nonzeros() const noexcept override { return nonzeros_; }
  std::string_view format() const noexcept override { return to_string(layout_.format); }
  std::optional<double> moved_bytes() const noexcept override {
    const bool reads_diagonal = std::ranges::find(group_diagonal_, kMixedGroup) != group_diagonal_.end();
    if (!layout_.is_all_bands() || !stream_ || reads_diagonal) return std::nullopt;
    return (right_side_.value.empty() ? 16.0 : 24.0) * static_cast<double>(matrix_.rows);  // x_{k-1}, x_k and b
  }
  std::string parameters() const override { return "right_side=" + right_side_.name; }
  /// After row i of the new vector is written, other rows still read row i of the old vector.
  bool may_overwrite_previous() const noexcept override { return false; }
  double growth_limit() const noexcept override { return growth_limit_; }

  void share_among(Team& team) override {
    parts_ = BlockParts::by_work(layout_.work_before, team);
    product_parts_.emplace(sets_, layout_.work_before, team);
    ghosted_.emplace(matrix_, sets_, layout_.work_before, team);
  }

  void start(void* payload) const noexcept override {
    auto* const x = static_cast<double*>(payload);
    parts_.for_each([&](std::uint64_t first, std::uint64_t last) {
      std::fill(x + first * kBlockRows, x + std::min(last * kBlockRows, matrix_.rows), 0.0);
    });
  }

  /// The solver keeps nothing between iterations except other processes' rows.
  void prepare(const void* payload, std::span<const std::uint64_t>) noexcept override {
    neighbours_.send(static_cast<const double*>(payload), ghosted_->data());
  }

  Change iterate(const void* previous, void* next) noexcept override {
    JacobiPass pass = {.product = layout_.product(matrix_),
                       .diagonal = diagonal_.data(),
                       .group_diagonal = group_diagonal_.data(),
                       .right_side = right_side_.value.empty() ? nullptr : right_side_.value.data(),
                       .previous = static_cast<const double*>(previous),
                       .next = static_cast<double*>(next)};
    const bool stream = stream_ && begins_line(next);
    const auto make = [&](std::uint64_t first, std::uint64_t last) {
      kernels_.iterate(pass, stream, first, last, sums_.data());
    };
    product_parts_->interior.for_each(make);
    if (!product_parts_->at_border.empty()) pass.previous = ghosted_->copy(pass.previous);
    neighbours_.receive();
    if (!product_parts_->at_border.empty()) product_parts_->at_border.for_each(make);
    neighbours_.send(pass.next, ghosted_->data());

    Totals totals;
    neighbours_.in_order(totals, [this](Totals& all) noexcept {
      for (const JacobiBlockSums& sums : sums_) {
        all.l1.add(sums.change_l1);
        all.linf = std::max(all.linf, sums.change_linf);
      }
    });
    const double l1 = totals.l1.value();
    return {.l1 = l1, .linf = largest_change(totals.linf, l1), .criterion = l1};
  }

 private:
  struct Totals {
    CompensatedSum l1;
    double linf = 0;
  };

  void find_diagonal() {
    constexpr double kMissing = std::numeric_limits<double>::infinity();  // entries are finite
    parts_.for_each([&](std::uint64_t first_block, std::uint64_t last_block) {
      for (std::uint64_t row = first_block * kBlockRows; row < std::min(last_block * kBlockRows, matrix_.rows); ++row) {
        diagonal_[row] = diagonal_at(matrix_, row).value_or(kMissing);
      }
    });
    neighbours_.together([&] {
      for (std::uint64_t row = 0; row < matrix_.rows; ++row) {
        if (diagonal_[row] != kMissing && diagonal_[row] != 0) continue;
        throw RefusedEntry(MatrixPlace::of_row(matrix_, row),
                           fmt::format("{} on the diagonal", diagonal_[row] == kMissing ? "no entry" : "a zero"),
                           "Jacobi divides by the diagonal and accepts rows whose diagonal entry is not zero");
      }
    });
  }

  void find_growth_limit() noexcept {
    DiagonalSums sums;
    neighbours_.in_order(sums, [this](DiagonalSums& all) noexcept {
      for (const double value : diagonal_) all.add(value);
    });
    growth_limit_ = jacobi_growth_limit(sums, symmetric_);
  }

  Neighbours& neighbours_;
  CsrMatrix matrix_;  // has no entries if the layout has them
  std::uint64_t nonzeros_;
  bool symmetric_;
  Array<std::uint64_t> ghosts_;
  RightSide right_side_;
  bool stream_;
  const JacobiKernels& kernels_;
  RowLayout layout_;
  OpenMpTeam openmp_;  // makes the iterates until another team is given
  BlockParts parts_;
  BlockSets sets_;
  std::optional<ProductParts> product_parts_;
  std::optional<GhostedVector> ghosted_;
  Array<double> diagonal_;
  Array<double> group_diagonal_;
  double growth_limit_ = 0;
  std::vector<JacobiBlockSums> sums_;
};

}  // namespace

std::unique_ptr<Solver> make_jacobi(CsrMatrix matrix, RightSide right_side, Isa isa, MatrixFormat format,
                                    Neighbours& neighbours) {
  if (matrix.orientation != Orientation::kRows) {
    throw std::logic_error("make_jacobi needs a matrix of orientation kRows");
  }
  if (format == MatrixFormat::kRanked) throw std::logic_error("make_jacobi cannot use the format kRanked");
  check_linear_system(matrix, right_side, "Jacobi", neighbours);
  return std::make_unique<Jacobi>(std::move(matrix), std::move(right_side), isa, format, neighbours);
}

const SolverEntry kJacobiSolver = {
    .choice = {.name = "jacobi", .help = "solves A x = b", .rhs = true},
    .orientation = Orientation::kRows,
    .converges_for = "a diagonally dominant matrix",
    .make =
        [](CsrMatrix matrix, RightSide right_side, const SolveOptions& options, Neighbours& neighbours) {
          return make_jacobi(std::move(matrix), std::move(right_side), selected_isa(),
                             format_named(options.matrix_format), neighbours);
        },
};

}  // namespace ringside
