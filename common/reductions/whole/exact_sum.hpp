// SPDX-License-Identifier: BSD-3-Clause
// The exact sum of doubles that are not negative. It is a fixed-point number that is wide enough for every double,
// after U. Kulisch's long accumulator ("Computer Arithmetic and Validity", 2008) and R. Neal's small one ("Fast exact
// summation using small and large superaccumulators", 2015). The value of the sum does not depend on the order of the
// additions, so it is rounded to the same double no matter where the terms were added. For terms of both signs there
// are two sums, whose difference is rounded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

/// The struct is trivially copyable and has no padding, so that it can be stored unchanged among words.
struct ExactSum {
  /// Bit b of the number has the value 2^(b - 1074): 2098 bits can hold the largest double; 78 more bits are for the
  /// sum of 2^64 of them and for the carries.
  static constexpr std::size_t kWords = 34;
  static constexpr std::uint64_t kInfinite = 1;
  static constexpr std::uint64_t kNan = 2;

  std::uint64_t words[kWords] = {};  // the low word first
  std::uint64_t met = 0;             // flags for terms that are not finite: kInfinite, kNan

  bool operator==(const ExactSum&) const = default;

  /// Adds number * 2^(bit - 1074). Requires bit < 64 * (kWords - 1). A carry out of the highest word is lost, which can
  /// happen only after more than 2^64 doubles.
  void add(std::uint64_t number, std::size_t bit) noexcept;
  void add(const ExactSum& other) noexcept;

  /// The nearest double, or the even one if two are equally near. Infinity if the sum exceeds the largest double or a
  /// term was infinite; NaN if a term was NaN.
  double rounded() const noexcept;
};
static_assert(sizeof(ExactSum) == (ExactSum::kWords + 1) * sizeof(std::uint64_t));

/// plus - minus, rounded once. NaN if both are infinite. A result of zero is +0.
double rounded_difference(const ExactSum& plus, const ExactSum& minus) noexcept;

}  // namespace ringside
