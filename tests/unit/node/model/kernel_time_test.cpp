// SPDX-License-Identifier: BSD-3-Clause
#include "node/model/kernel_time.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ringside {
namespace {

Series series(std::initializer_list<std::pair<int, double>> points) {
  Series made;
  for (const auto& [threads, value] : points) made.points.push_back({threads, {.value = value}});
  return made;
}

TEST(SoftSumTest, IsTheSumForOneAndTheLargerTermForALargeExponent) {
  EXPECT_DOUBLE_EQ(soft_sum(3, 4, 1), 7);
  EXPECT_DOUBLE_EQ(soft_sum(3, 4, 2), 5);
  EXPECT_NEAR(soft_sum(3, 4, 60), 4, 1e-6);
  EXPECT_EQ(soft_sum(0, 0, 3), 0);
}

TEST(SecondsAtTest, InterpolatesByAPowerLawAndExtrapolatesNoGain) {
  const Series seconds = series({{2, 8.0}, {8, 2.0}});
  EXPECT_DOUBLE_EQ(seconds_at(seconds, 1), 16);
  EXPECT_NEAR(seconds_at(seconds, 4), 4, 1e-12);
  EXPECT_DOUBLE_EQ(seconds_at(seconds, 16), 2);
}

constexpr std::array kCapacity = {100.0};

TEST(SharedSecondsTest, GrowFromTheSecondsAloneToTheBytesOverTheShare) {
  const KernelTime some_bytes{.threads = 2, .alone_s = 1, .bytes = {60}};
  EXPECT_DOUBLE_EQ(shared_seconds(some_bytes, std::array{50.0}, kCapacity, 3), 1) << "the share is all there is";
  const KernelTime only_bytes{.threads = 1, .alone_s = 1, .bytes = {100}};
  EXPECT_NEAR(shared_seconds(only_bytes, std::array{25.0}, kCapacity, 3), 4, 1e-9);
}

TEST(TogetherTest, KernelsSlowEachOtherByTheBytesThatTheyMove) {
  const KernelTime nothing{.threads = 1, .alone_s = 2, .bytes = {0}};
  const Together both = together(nothing, nothing, kCapacity, 3);
  EXPECT_DOUBLE_EQ(both.first_s, 2);
  EXPECT_DOUBLE_EQ(both.second_s, 2);
  const KernelTime saturating{.threads = 1, .alone_s = 1, .bytes = {100}};
  EXPECT_NEAR(together(saturating, saturating, kCapacity, 3).first_s, 2, 1e-9);
}

TEST(FitExponentTest, FindsTheExponentThatMadeTheSeries) {
  constexpr double kOne = 10;
  constexpr double kSaturated = 60;
  Series rates;
  for (int threads = 1; threads <= 64; threads *= 2) {
    rates.points.push_back({threads, {.value = threads / soft_sum(1 / kOne, threads / kSaturated, 4)}});
  }
  rates.points.front().figure.value = kOne;
  EXPECT_NEAR(fit_exponent(std::array{rates}), 4, 0.5);
}

TEST(FitExponentTest, IsTheUsualOneForSeriesThatAreTooShort) {
  EXPECT_EQ(fit_exponent(std::array{series({{1, 10}, {2, 18}})}), 3);
  EXPECT_EQ(fit_exponent({}), 3);
}

}  // namespace
}  // namespace ringside
