// SPDX-License-Identifier: BSD-3-Clause
#include "cli/compare/value_distance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

namespace ringside {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Value>
ValueDistance between(DType dtype, Value a, Value b) {
  return distance(dtype, reinterpret_cast<const std::byte*>(&a), reinterpret_cast<const std::byte*>(&b));
}

TEST(ValueDistanceTest, CountsTheStepsToTheNextNumber) {
  EXPECT_EQ(ulps_between(1.0, std::nextafter(1.0, 2.0)), 1u);
  EXPECT_EQ(ulps_between(std::nextafter(1.0, 0.0), std::nextafter(1.0, 2.0)), 2u);
  EXPECT_EQ(ulps_between(1.0f, std::nextafter(1.0f, 2.0f)), 1u);
  EXPECT_EQ(ulps_between(1.0, 2.0), std::uint64_t{1} << 52);
}

TEST(ValueDistanceTest, CountsThroughZeroBetweenDifferentSigns) {
  const double least = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(ulps_between(-least, least), 2u);
  EXPECT_EQ(ulps_between(0.0, -0.0), 0u);
  EXPECT_FALSE(between(DType::kF64, 0.0, -0.0).equal);
}

TEST(ValueDistanceTest, HasNoneForNanAndInfinity) {
  EXPECT_FALSE(ulps_between(1.0, std::nan("")));
  EXPECT_FALSE(ulps_between(kInfinity, std::numeric_limits<double>::max()));
  EXPECT_EQ(to_text(between(DType::kF64, 1.0, kInfinity)), "no distance in ulps: a value is not finite");
  EXPECT_TRUE(between(DType::kF64, std::nan(""), std::nan("")).equal);
}

TEST(ValueDistanceTest, OfIntegersIsTheirDifference) {
  const auto least = std::numeric_limits<std::int64_t>::min();
  const auto greatest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(between(DType::kI64, least, greatest).amount, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(to_text(between(DType::kI8, std::int8_t{-3}, std::int8_t{2})), "5 apart");
}

TEST(ValueDistanceTest, OfComplexNumbersNamesThePart) {
  const std::complex<double> a(1, 2);
  const std::complex<double> b(1, std::nextafter(2.0, 3.0));
  EXPECT_EQ(to_text(between(DType::kC128, a, b)), "1 ulp in the imaginary part");
  EXPECT_EQ(value_text(DType::kC128, reinterpret_cast<const std::byte*>(&a)), "1+2i");
}

}  // namespace
}  // namespace ringside
