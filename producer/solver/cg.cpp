// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/cg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/platform/error.hpp"
#include "common/threads/openmp_team.hpp"
#include "producer/kernels/block_parts.hpp"
#include "producer/kernels/cg_kernel.hpp"
#include "producer/kernels/streaming.hpp"
#include "producer/matrix/matrix_part.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/matrix/symmetry.hpp"
#include "producer/solver/compensated_sum.hpp"
#include "producer/solver/linear_system.hpp"

namespace ringside {
namespace {

// The product reads p and writes q: 16 bytes per row. x' and r' are computed from x, r, p and q: 48; p' from r' and p:
// 24.
constexpr double kVectorBytesPerRow = 88;

// The places of the variables in the schema, and of the scalars among all scalars.
enum Place : std::size_t { kX, kR, kP };
enum ScalarPlace : std::size_t { kL1, kLinf, kRho, kRelativeResidual };

// An r with this |r| / |b| counts as exhausted: later iterations would change x by less than any rounding, and in the
// end p.Ap would underflow.
constexpr double kExhausted = 0x1p-100;

// Limits for the largest magnitude of b: with these, rho of an r that is not exhausted is a normal number.
constexpr double kSmallestB = 1e-100;
constexpr double kLargestB = 1e100;

void check(const CsrMatrix& matrix, const RightSide& right_side, Neighbours& neighbours) {
  check_linear_system(matrix, right_side, "cg", neighbours);
  neighbours.together([&] {
    for (std::uint64_t row = 0; row < matrix.rows; ++row) {
      const std::optional<double> entry = entry_at(matrix, row, matrix.first_row + row);
      if (entry && *entry > 0) continue;
      throw RefusedEntry(MatrixPlace::of_row(matrix, row),
                         fmt::format("{} on the diagonal", entry ? fmt::format("{}", *entry) : "no entry"),
                         "cg accepts symmetric positive definite matrices, which have numbers above 0 there");
    }
  });
  if (!is_symmetric(matrix, neighbours)) {
    const CsrMatrix whole = neighbours.gathered(matrix);  // an entry's mirror may be in another process
    neighbours.together([&] {
      if (whole.rows == 0) return;
      const MirroredEntry entry = first_unmirrored(whole);
      throw RefusedEntry(MatrixPlace::of_entry(whole, entry.stored), fmt::format("the entry {}", entry.value),
                         fmt::format("and {} at the mirrored position; cg accepts symmetric positive definite matrices",
                                     entry.mirror ? fmt::format("{}", *entry.mirror) : "no entry"));
    });
  }
  neighbours.together([&] {
    double largest = 0;
    for (const double value : right_side.value) largest = std::max(largest, std::fabs(value));
    if (largest != 0 && !(largest >= kSmallestB && largest <= kLargestB)) {
      throw usage_error("the right-hand side's largest magnitude is {}; cg accepts {} to {}, or 0", largest, kSmallestB,
                        kLargestB);
    }
  });
}

Schema schema_of(std::uint64_t rows) {
  return Schema::of({{.name = "x", .shape = {rows}},
                     {.name = "r", .shape = {rows}, .role = Role::kState},
                     {.name = "p", .shape = {rows}, .role = Role::kState}});
}

/// A number because of which the iteration ends.
struct Breakdown {
  const char* what = "";
  double value = 0;
};

class ConjugateGradients final : public Solver {
 public:
  ConjugateGradients(CsrMatrix matrix, RightSide right_side, Isa isa, MatrixFormat format, Neighbours& neighbours)
      : neighbours_(neighbours),
        matrix_(std::move(matrix)),
        nonzeros_(matrix_.nonzeros()),
        ghosts_(number_ghosts(matrix_)),
        b_is_ones_(right_side.value.empty()),
        right_side_(own_part(std::move(right_side), matrix_)),
        schema_(schema_of(matrix_.all_rows())),
        exceeds_cache_(exceed_cache(matrix_.rows, 4)),  // a vector is read again when three to six others were used
        kernels_(*select(&plain::kCgKernels, &avx2::kCgKernels, &avx512::kCgKernels, isa)),
        layout_(make_row_layout(matrix_, format, {})),
        parts_(BlockParts::by_work(layout_.work_before, openmp_)),
        sets_(find_block_sets(matrix_)),
        product_with_p_(matrix_.rows),
        sums_(block_count(matrix_.rows)) {
    for (const Place variable : {kX, kR, kP}) offset_[variable] = schema_.place(variable).offset;
    share_among(openmp_);
    neighbours_.expect(matrix_, ghosts_.span(), {});
    if (!layout_.reads_matrix()) release_entries(matrix_);
    norm_of_b_ = std::sqrt(b_is_ones_ ? static_cast<double>(matrix_.all_rows()) : square_of(right_side_.value.data()));
    for_each_part([&](std::uint64_t begin, std::uint64_t end) {  // the first touch
      std::fill(product_with_p_.data() + begin, product_with_p_.data() + end, 0.0);
    });
  }

  std::uint64_t rows() const noexcept override { return matrix_.all_rows(); }
  std::uint64_t nonzeros() const noexcept override { return nonzeros_; }
  std::string_view format() const noexcept override { return to_string(layout_.format); }
  std::optional<double> moved_bytes() const noexcept override {
    if (!layout_.is_all_bands() || !exceeds_cache_) return std::nullopt;
    return kVectorBytesPerRow * static_cast<double>(matrix_.rows);
  }
  std::string parameters() const override { return "right_side=" + right_side_.name; }
  /// The sweeps that write run after the product, and row i of each vector depends only on row i of the other vectors.
  bool may_overwrite_previous() const noexcept override { return true; }
  /// No limit is known: the change rises and falls on the way to the solution.
  double growth_limit() const noexcept override { return std::numeric_limits<double>::infinity(); }
  double exhausted_criterion() const noexcept override { return kExhausted; }
  std::string breakdown() const override {
    if (!std::isfinite(broken_.value)) {
      return fmt::format(
          "found {} = {}, expected a finite number: the entries of the matrix or of the right-hand side "
          "are too large or too small",
          broken_.what, broken_.value);
    }
    return fmt::format("found {} = {}, expected a number above 0: the matrix is {}", broken_.what, broken_.value,
                       broken_.value < 0 ? "not positive definite" : "singular, or its entries are too small");
  }

  Schema variables() const override { return schema_; }
  std::vector<Scalar> scalars() const override {
    return {{.name = "residual_l1"},
            {.name = "residual_linf"},
            {.name = "rho"},
            {.name = "relative_residual", .unit = "1"}};
  }
  std::span<const std::uint64_t> further_scalars() const noexcept override { return further_scalars_; }

  Change change_of(std::span<const std::uint64_t> scalars) const noexcept override {
    return {.l1 = std::bit_cast<double>(scalars[kL1]),
            .linf = std::bit_cast<double>(scalars[kLinf]),
            .criterion = std::bit_cast<double>(scalars[kRelativeResidual])};
  }

  void share_among(Team& team) override {
    parts_ = BlockParts::by_work(layout_.work_before, team);
    product_parts_.emplace(sets_, layout_.work_before, team);
    ghosted_p_.emplace(matrix_, sets_, layout_.work_before, team);
  }
  void lie_at(std::span<const std::uint64_t> offsets) override { std::ranges::copy(offsets, offset_.begin()); }

  void start(void* payload) const noexcept override {
    double* const x = vector(payload, kX);
    double* const r = vector(payload, kR);
    double* const p = vector(payload, kP);
    const double* const b = right_side_.value.empty() ? nullptr : right_side_.value.data();
    for_each_part([&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) {
        x[i] = 0;
        r[i] = p[i] = b == nullptr ? 1.0 : b[i];
      }
    });
  }

  void prepare(const void* payload, std::span<const std::uint64_t> scalars) noexcept override {
    neighbours_.send(vector(payload, kP), ghosted_p_->data());
    keep_rho(scalars.empty() ? square_of(vector(payload, kR)) : std::bit_cast<double>(scalars[kRho]));
  }

  Change iterate(const void* previous, void* next) noexcept override {
    CgPass pass = {.product = layout_.product(matrix_),
                   .x = vector(previous, kX),
                   .r = vector(previous, kR),
                   .p = vector(previous, kP),
                   .product_with_p = product_with_p_.data(),
                   .next_x = vector(next, kX),
                   .next_r = vector(next, kR),
                   .next_p = vector(next, kP),
                   .alpha = 0,
                   .beta = 0};
    multiply(pass);
    const double p_dot_product = sum_of(&CgBlockSums::p_dot_product);
    // If r is exhausted, x does not change any more, and a direction of zeros would look like a breakdown.
    const bool exhausted = relative_residual() <= kExhausted;
    if (!exhausted) {
      if (!(p_dot_product > 0 && std::isfinite(p_dot_product))) return broken_down("p.Ap", p_dot_product);
      pass.alpha = rho_ / p_dot_product;
    }
    const bool stream = exceeds_cache_ && previous != next && begins_line(pass.next_x) && begins_line(pass.next_r) &&
                        begins_line(pass.next_p);
    parts_.for_each(
        [&](std::uint64_t first, std::uint64_t last) { kernels_.advance(pass, stream, first, last, sums_.data()); });
    Totals totals;
    neighbours_.in_order(totals, [this](Totals& all) noexcept {
      for (const CgBlockSums& sums : sums_) {
        all.l1.add(sums.change_l1);
        all.linf = std::max(all.linf, sums.change_linf);
        all.rho.add(sums.r_dot_r);
      }
    });
    Change change{.l1 = totals.l1.value(), .linf = totals.linf};
    const double rho = totals.rho.value();
    if (!std::isfinite(rho)) return broken_down("r.r", rho);
    if (!std::isfinite(change.l1)) return broken_down("an L1 change", change.l1);
    if (!exhausted) pass.beta = rho / rho_;
    parts_.for_each([&](std::uint64_t first, std::uint64_t last) { kernels_.turn(pass, stream, first, last); });
    neighbours_.send(pass.next_p, ghosted_p_->data());
    keep_rho(rho);
    change.criterion = relative_residual();
    return change;
  }

 private:
  struct Totals {
    CompensatedSum l1;
    CompensatedSum rho;
    double linf = 0;
  };

  double* vector(void* payload, Place place) const noexcept {
    return reinterpret_cast<double*>(static_cast<std::byte*>(payload) + offset_[place]);
  }
  const double* vector(const void* payload, Place place) const noexcept {
    return reinterpret_cast<const double*>(static_cast<const std::byte*>(payload) + offset_[place]);
  }

  /// q = A p, and the sums of p.q.
  void multiply(CgPass pass) noexcept {
    const auto make = [&](std::uint64_t first, std::uint64_t last) {
      kernels_.multiply(pass, exceeds_cache_, first, last, sums_.data());
    };
    product_parts_->interior.for_each(make);
    const bool at_border = !product_parts_->at_border.empty();
    if (at_border) pass.p = ghosted_p_->copy(pass.p);
    neighbours_.receive();
    if (at_border) product_parts_->at_border.for_each(make);
  }

  /// Calls work(first row, last row) for every part.
  template <class Work>
  void for_each_part(const Work& work) const noexcept {
    parts_.for_each([&](std::uint64_t first, std::uint64_t last) {
      work(first * kBlockRows, std::min(last * kBlockRows, matrix_.rows));
    });
  }

  double sum_of(double CgBlockSums::*term) noexcept {
    CompensatedSum sum;
    neighbours_.in_order(sum, [&](CompensatedSum& all) noexcept {
      for (const CgBlockSums& sums : sums_) all.add(sums.*term);
    });
    return sum.value();
  }

  double square_of(const double* vector) noexcept {
    parts_.for_each([&](std::uint64_t first, std::uint64_t last) {
      kernels_.square(vector, matrix_.rows, first, last, sums_.data());
    });
    return sum_of(&CgBlockSums::r_dot_r);
  }

  void keep_rho(double rho) noexcept {
    rho_ = rho;
    further_scalars_ = {std::bit_cast<std::uint64_t>(rho), std::bit_cast<std::uint64_t>(relative_residual())};
  }

  double relative_residual() const noexcept { return norm_of_b_ > 0 ? std::sqrt(rho_) / norm_of_b_ : 0.0; }

  Change broken_down(const char* what, double value) noexcept {
    broken_ = {what, value};
    return {.broken_down = true};
  }

  Neighbours& neighbours_;
  CsrMatrix matrix_;  // has no entries if the layout has them
  std::uint64_t nonzeros_;
  Array<std::uint64_t> ghosts_;
  bool b_is_ones_;
  RightSide right_side_;
  Schema schema_;
  std::array<std::uint64_t, 3> offset_{};  // the places of the variables in a step's memory
  bool exceeds_cache_;
  const CgKernels& kernels_;
  RowLayout layout_;
  OpenMpTeam openmp_;  // makes the steps until another team is given
  BlockParts parts_;
  BlockSets sets_;
  std::optional<ProductParts> product_parts_;
  std::optional<GhostedVector> ghosted_p_;
  Array<double> product_with_p_;
  std::vector<CgBlockSums> sums_;
  double norm_of_b_ = 0;
  double rho_ = 0;                                  // rho of the newest step
  std::array<std::uint64_t, 2> further_scalars_{};  // further scalars of the newest step
  Breakdown broken_;
};

}  // namespace

std::unique_ptr<Solver> make_cg(CsrMatrix matrix, RightSide right_side, Isa isa, MatrixFormat format,
                                Neighbours& neighbours) {
  if (matrix.orientation != Orientation::kRows) {
    throw std::logic_error("make_cg needs a matrix of orientation kRows");
  }
  if (format == MatrixFormat::kRanked) throw std::logic_error("make_cg cannot use the format kRanked");
  check(matrix, right_side, neighbours);
  return std::make_unique<ConjugateGradients>(std::move(matrix), std::move(right_side), isa, format, neighbours);
}

const SolverEntry kCgSolver = {
    .choice = {.name = "cg",
               .help = "conjugate gradients: solves A x = b with a symmetric positive definite A",
               .criterion = "relative residual |r|/|b|",
               .rhs = true},
    .orientation = Orientation::kRows,
    .vectors = 3,
    .vector_bytes_per_row = kVectorBytesPerRow,
    .make =
        [](CsrMatrix matrix, RightSide right_side, const SolveOptions& options, Neighbours& neighbours) {
          return make_cg(std::move(matrix), std::move(right_side), selected_isa(), format_named(options.matrix_format),
                         neighbours);
        },
};

}  // namespace ringside
