// SPDX-License-Identifier: BSD-3-Clause
// The sums of a field whose parts are boxes. The nodes have no common order in which they could add the entries of
// boxes, so each sum is exact and rounded only once (docs/inside/kernels.md, "Parts that are boxes").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "common/reductions/kernels/reduction_record.hpp"
#include "common/reductions/whole/exact_sum.hpp"

namespace ringside {

/// The sums of entries and changes, which are converted to doubles. The terms are rounded as in other fields: a square
/// is a double. For an integer field only the squares are added, because its other sums are exact integers.
struct ExactSums {
  static constexpr std::size_t kCount = 5;

  ExactSum positive;  // sum of the entries above 0
  ExactSum negative;  // sum of the magnitudes of the entries below 0
  ExactSum squares;
  ExactSum changes;   // sum of the magnitudes of changes
  ExactSum squares_of_changes;

  bool operator==(const ExactSums&) const = default;

  /// The sums, in the order in which nodes exchange them.
  std::array<const ExactSum*, kCount> all() const noexcept;
  std::array<ExactSum*, kCount> all() noexcept;

  void add(const ExactSums& other) noexcept;

  double sum() const noexcept { return rounded_difference(positive, negative); }
  double l1() const noexcept;
  double l2() const noexcept;
  double change_l1() const noexcept { return changes.rounded(); }
  double change_l2() const noexcept;
};
static_assert(sizeof(ExactSums) == ExactSums::kCount * sizeof(ExactSum), "no padding");

/// Adds entries to exact sums, a block at a time: the significands of terms with equal exponents are added as integers,
/// and only their totals go to the sum (Neal's large accumulator). Only one thread may use it. Allocates at
/// construction only.
class ExactAdder {
 public:
  ExactAdder();

  /// x, change: `entries` doubles, at most kReductionBlockRows. change: null if there is no previous step.
  void add(const double* x, const double* change, std::size_t entries, bool is_integer, ExactSums& sums) noexcept;

 private:
  static constexpr std::size_t kExponents = 2048;

  /// The totals for each exponent; 0 between two calls.
  using Totals = std::array<std::uint64_t, kExponents>;
  struct Tables {
    Totals of_sign[2] = {};  // for positive and for negative terms
    Totals squares{};
  };
  /// The range of the magnitudes that were added, as bits, which have the same order as the magnitudes.
  struct Range {
    std::uint64_t lowest_less_one = ~std::uint64_t{0};  // ignoring zeros
    std::uint64_t greatest = 0;
  };

  Range add_terms(const double* values, std::size_t count, bool with_values) noexcept;
  void settle(const Range& range, bool with_values, ExactSum& positive, ExactSum& negative, ExactSum& squares) noexcept;
  static void settle(Totals& totals, std::uint64_t lowest, std::uint64_t greatest, ExactSum& sum) noexcept;

  std::unique_ptr<Tables> tables_;
};

}  // namespace ringside
