// SPDX-License-Identifier: BSD-3-Clause
// A sum of doubles that are not negative, without any rounding: a fixed-point number wide enough for every double, after
// U. Kulisch's long accumulator ("Computer Arithmetic and Validity", 2008) and R. Neal's small one ("Fast exact summation
// using small and large superaccumulators", 2015). Its value does not depend on the order of the additions, so it is
// rounded to the same double wherever the terms were added. Terms with a sign are two sums, whose difference is rounded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

/// Trivially copyable and without padding, so that it is kept among words as it is.
struct ExactSum {
  /// Bit b of the number is worth 2^(b - 1074): 2098 bits hold the largest double, 78 more the sum of 2^64 of them and
  /// the carries.
  static constexpr std::size_t kWords = 34;
  static constexpr std::uint64_t kInfinite = 1;
  static constexpr std::uint64_t kNan = 2;

  std::uint64_t words[kWords] = {};  // the low one first
  std::uint64_t met = 0;             // which terms that are no numbers: kInfinite, kNan

  bool operator==(const ExactSum&) const = default;

  /// Adds number * 2^(bit - 1074). Requires bit < 64 * (kWords - 1). What exceeds the highest word is lost, which takes
  /// more than 2^64 doubles.
  void add(std::uint64_t number, std::size_t bit) noexcept;
  void add(const ExactSum& other) noexcept;

  /// The nearest double, of two equally near ones the even one; infinity beyond the doubles; NaN after a term that was.
  double rounded() const noexcept;
};
static_assert(sizeof(ExactSum) == (ExactSum::kWords + 1) * sizeof(std::uint64_t));

/// plus - minus, rounded once. NaN if both are infinite. A zero is +0.
double rounded_difference(const ExactSum& plus, const ExactSum& minus) noexcept;

}  // namespace ringside
