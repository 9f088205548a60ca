// SPDX-License-Identifier: BSD-3-Clause
// Exact sums of doubles are correctly rounded, in any order and for any number of parts. The reference counts the bits
// of all terms by their places, carries once, and rounds digit by digit.
#include "common/reductions/whole/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "common/reductions/whole/exact_sums.hpp"

namespace ringside {
namespace {

using Doubles = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kQuietNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kGreatest = std::numeric_limits<double>::max();
constexpr double kTiniest = std::numeric_limits<double>::denorm_min();

/// The reference sum of finite terms. Place b has the value 2^(b - 1074).
class Reference {
 public:
  void add(double term) {
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(term), &exponent);  // it is in [0.5, 1)
    const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    for (int b = 0; b < 53; ++b) {
      if ((digits >> b & 1) != 0) at(exponent - 53 + b) += std::signbit(term) ? -1 : 1;
    }
  }

  double rounded() const {
    std::vector<std::int64_t> digits = counts_;
    carry(digits);
    const bool is_negative = digits.back() < 0;
    if (is_negative) {
      digits = counts_;
      for (std::int64_t& digit : digits) digit = -digit;
      carry(digits);
    }
    std::size_t top = digits.size();
    while (top > 0 && digits[top - 1] == 0) --top;
    if (top == 0) return 0;
    const std::size_t low = top > 53 ? top - 53 : 0;  // the lowest digit that is not rounded away
    double value = 0;
    for (std::size_t b = top; b-- > low;) value = 2 * value + static_cast<double>(digits[b]);
    if (low > 0 && digits[low - 1] != 0) {
      const bool is_more = std::any_of(digits.begin(), digits.begin() + static_cast<std::ptrdiff_t>(low) - 1,
                                       [](std::int64_t digit) { return digit != 0; });
      if (is_more || digits[low] != 0) value += 1;
    }
    value = std::ldexp(value, static_cast<int>(low) - 1074);
    return is_negative ? -value : value;
  }

 private:
  std::int64_t& at(int exponent) { return counts_[static_cast<std::size_t>(exponent + 1074)]; }
  /// Carries, so that all digits become 0 or 1, except the last one, which has the sign.
  static void carry(std::vector<std::int64_t>& digits) {
    for (std::size_t b = 0; b + 1 < digits.size(); ++b) {
      const std::int64_t digit = digits[b] & 1;
      digits[b + 1] += (digits[b] - digit) / 2;
      digits[b] = digit;
    }
  }

  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(2098 + 40);
};

ExactSums exact_sums(const Doubles& x, const Doubles& change = {}) {
  ExactAdder adder;
  ExactSums sums;
  for (std::size_t at = 0; at < x.size(); at += kReductionBlockRows) {
    const std::size_t entries = std::min(kReductionBlockRows, x.size() - at);
    adder.add(x.data() + at, change.empty() ? nullptr : change.data() + at, entries, false, sums);
  }
  return sums;
}

double reference_sum(const Doubles& terms) {
  Reference sum;
  for (const double term : terms) sum.add(term);
  return sum.rounded();
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

/// Expects that all sums are correctly rounded. Requires finite entries with finite squares.
void expect_correctly_rounded(const Doubles& x) {
  const ExactSums sums = exact_sums(x, x);
  Doubles magnitudes;
  Doubles squares;
  for (const double entry : x) {
    magnitudes.push_back(std::fabs(entry));
    squares.push_back(entry * entry);
  }
  EXPECT_EQ(bits(sums.sum()), bits(reference_sum(x)));
  EXPECT_EQ(bits(sums.l1()), bits(reference_sum(magnitudes)));
  EXPECT_EQ(bits(sums.change_l1()), bits(reference_sum(magnitudes)));
  EXPECT_EQ(bits(sums.squares.rounded()), bits(reference_sum(squares)));
  EXPECT_EQ(bits(sums.change_l2()), bits(std::sqrt(reference_sum(squares))));
}

double sum_of(const Doubles& x) { return exact_sums(x).sum(); }

TEST(ExactSumTest, NothingAndZerosSumToZero) {
  EXPECT_EQ(bits(sum_of({})), bits(0.0));
  EXPECT_EQ(bits(sum_of({-0.0, 0.0, -0.0})), bits(0.0));
  EXPECT_EQ(bits(sum_of({-0.0})), bits(0.0));
  EXPECT_EQ(bits(sum_of({3.25, -3.25})), bits(0.0));
}

TEST(ExactSumTest, WhatCancelsLeavesTheRest) {
  EXPECT_EQ(sum_of({1e308, 1.0, -1e308}), 1.0);
  EXPECT_EQ(sum_of({1e100, 1.0, -1e100, 1e-300, -1.0}), 1e-300);
  EXPECT_EQ(sum_of({1e308, kTiniest, -1e308}), kTiniest);
  EXPECT_EQ(sum_of({-1e16, 1.0, 1e16, -2.0}), -1.0);
}

TEST(ExactSumTest, HalvesAreRoundedToEvenAndMoreThanHalvesUp) {
  const double ulp = std::ldexp(1.0, -52);
  EXPECT_EQ(sum_of({1.0, ulp / 2}), 1.0);
  EXPECT_EQ(sum_of({1.0, ulp / 2, kTiniest}), 1.0 + ulp);
  EXPECT_EQ(sum_of({1.0, ulp / 2, -kTiniest}), 1.0);
  EXPECT_EQ(sum_of({1.0 + ulp, ulp / 2}), 1.0 + 2 * ulp);
  EXPECT_EQ(sum_of({-1.0 - ulp, -ulp / 2}), -1.0 - 2 * ulp);
  EXPECT_EQ(sum_of({2.0 - ulp, ulp / 2}), 2.0) << "the carry makes the exponent greater";
}

TEST(ExactSumTest, SubnormalNumbersAndTheSmallestNormalOnesAreExact) {
  const double smallest = std::numeric_limits<double>::min();
  EXPECT_EQ(sum_of({kTiniest, kTiniest, kTiniest}), 3 * kTiniest);
  EXPECT_EQ(sum_of({smallest, -kTiniest}), smallest - kTiniest);
  EXPECT_EQ(sum_of({smallest - kTiniest, kTiniest}), smallest);
  EXPECT_EQ(sum_of({2 * smallest, -kTiniest}), 2 * smallest - kTiniest);
  EXPECT_EQ(sum_of({smallest, smallest, kTiniest}), 2 * smallest) << "half a unit above";
}

TEST(ExactSumTest, TermsBeyondTheDoublesMayComeBack) {
  EXPECT_EQ(sum_of({kGreatest, kGreatest, kGreatest, -kGreatest, -kGreatest}), kGreatest);
  EXPECT_EQ(sum_of({kGreatest, kGreatest}), kInfinity);
  EXPECT_EQ(sum_of({-kGreatest, -kGreatest}), -kInfinity);
  const double half_ulp = std::ldexp(1.0, 970);
  EXPECT_EQ(sum_of({kGreatest, half_ulp}), kInfinity) << "as one addition would round it";
  EXPECT_EQ(sum_of({kGreatest, half_ulp, -kTiniest}), kGreatest);
  Doubles many(10'000, kGreatest);
  many.insert(many.end(), 9'999, -kGreatest);
  EXPECT_EQ(sum_of(many), kGreatest);
}

TEST(ExactSumTest, InfinitiesAndNanFollowTheTableOfTheDocumentation) {
  EXPECT_EQ(sum_of({1.0, kInfinity, -5.0}), kInfinity);
  EXPECT_EQ(sum_of({-kInfinity, 1.0}), -kInfinity);
  const ExactSums both = exact_sums({kInfinity, 1.0, -kInfinity});
  EXPECT_EQ(bits(both.sum()), bits(__builtin_nan(""))) << "always the same NaN";
  EXPECT_EQ(both.l1(), kInfinity);
  EXPECT_EQ(both.l2(), kInfinity);
  for (const double nan : {kQuietNan, -kQuietNan}) {
    const ExactSums sums = exact_sums({1.0, nan, kInfinity}, {nan, 1.0, 2.0});
    for (const double found : {sums.sum(), sums.l1(), sums.l2(), sums.change_l1(), sums.change_l2()}) {
      EXPECT_EQ(bits(found), bits(__builtin_nan("")));
    }
  }
  const ExactSums only_changes = exact_sums({1.0, 2.0}, {kInfinity, -1.0});
  EXPECT_EQ(only_changes.sum(), 3.0);
  EXPECT_EQ(only_changes.change_l1(), kInfinity);
  EXPECT_EQ(only_changes.change_l2(), kInfinity);
}

TEST(ExactSumTest, NumbersAfterANanAreAddedWithoutATraceOfIt) {
  ExactAdder adder;
  ExactSums first;
  const Doubles x = {kQuietNan, 2.0, -kInfinity, 1e200};
  adder.add(x.data(), x.data(), x.size(), false, first);
  ExactSums second;
  const Doubles y = {2.0, -0.5};
  adder.add(y.data(), y.data(), y.size(), false, second);
  EXPECT_EQ(second, exact_sums(y, y));
}

TEST(ExactSumTest, SquaresAreRoundedTerms) {
  const ExactSums sums = exact_sums({1e-200, 1e200});
  EXPECT_EQ(sums.l2(), kInfinity) << "1e400 is no double";
  EXPECT_EQ(exact_sums({1e-200, -1e-200}).l2(), 0.0) << "1e-400 rounds to 0";
  EXPECT_EQ(exact_sums({3e-160, -4.0, 3.0}).l2(), 5.0);
}

TEST(ExactSumTest, CarriesGoThroughAllWords) {
  ExactSum sum;
  sum.add(1, 0);
  for (std::size_t bit = 0; bit < 2046; ++bit) sum.add(1, bit);  // in total 1 + (2^2046 - 1)
  ExactSum expected;
  expected.add(1, 2046);
  EXPECT_EQ(sum, expected);
  ExactSum one;
  one.add(1, 0);
  ExactSum ones;
  for (std::size_t bit = 0; bit < 2046; ++bit) ones.add(1, bit);
  ones.add(one);
  EXPECT_EQ(ones, expected);
}

TEST(ExactSumTest, SumsOfEveryKindOfTermsAreCorrectlyRounded) {
  std::mt19937_64 random(2015);
  const auto uniform = [&random] { return std::ldexp(static_cast<double>(random() >> 11), -53) - 0.5; };
  for (const int spread : {0, 3, 40, 300, 1000}) {
    for (const std::size_t entries : {std::size_t{1}, std::size_t{2}, std::size_t{100}, std::size_t{1024}, std::size_t{5000}}) {
      SCOPED_TRACE(::testing::Message() << entries << " entries, exponents up to 2^" << spread);
      Doubles x(entries);
      const std::uint64_t exponents = static_cast<std::uint64_t>(spread) + 1;
      for (double& entry : x) {
        const int exponent = static_cast<int>(random() % exponents) - spread / 2;
        entry = std::ldexp(uniform(), exponent);
      }
      expect_correctly_rounded(x);
      Doubles cancels = x;  // positive and negative terms cancel almost completely
      for (const double entry : x) cancels.push_back(-entry * (1 + std::ldexp(uniform(), -50)));
      std::ranges::shuffle(cancels, random);
      expect_correctly_rounded(cancels);
    }
  }
}

TEST(ExactSumTest, AnySequenceOfBitsIsAdded) {
  std::mt19937_64 random(1);
  for (int repeat = 0; repeat < 200; ++repeat) {
    Doubles x;
    while (x.size() < 500) {
      const auto entry = std::bit_cast<double>(random());
      if (std::isfinite(entry)) x.push_back(entry);
    }
    EXPECT_EQ(bits(sum_of(x)), bits(reference_sum(x)));
  }
}

TEST(ExactSumTest, OrderAndPartsChangeNothing) {
  std::mt19937_64 random(7);
  Doubles x(20'000);
  for (double& entry : x) entry = std::ldexp(static_cast<double>(random() >> 11) - 4e15, static_cast<int>(random() % 200) - 100);
  const ExactSums expected = exact_sums(x, x);
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::ranges::shuffle(x, random);
    EXPECT_EQ(exact_sums(x, x), expected);
    ExactSums merged;
    for (std::size_t at = 0; at < x.size();) {
      const std::size_t entries = std::min<std::size_t>(1 + random() % 3000, x.size() - at);
      const Doubles part(x.begin() + static_cast<std::ptrdiff_t>(at), x.begin() + static_cast<std::ptrdiff_t>(at + entries));
      merged.add(exact_sums(part, part));
      at += entries;
    }
    EXPECT_EQ(merged, expected);
  }
}

TEST(ExactSumTest, OfIntegersOnlySquaresAreAdded) {
  ExactAdder adder;
  ExactSums sums;
  const Doubles x = {3.0, -4.0};
  adder.add(x.data(), x.data(), x.size(), true, sums);
  EXPECT_EQ(sums.l2(), 5.0);
  EXPECT_EQ(sums.change_l2(), 5.0);
  EXPECT_EQ(sums.positive, ExactSum());
  EXPECT_EQ(sums.changes, ExactSum());
}

}  // namespace
}  // namespace ringside
