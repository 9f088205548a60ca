// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/convergence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ringside {
namespace {

constexpr double kNeverGrows = 1;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// Adds the changes factor^k for k = 1, 2 ... Returns the iteration at which the verdict changed, or 0 if it did not
/// change within `most` iterations.
int first_verdict(ConvergenceCheck& check, double factor, int most, Progress* verdict) {
  for (int k = 1; k <= most; ++k) {
    *verdict = check.observe(std::pow(factor, k));
    if (*verdict != Progress::kRunning) return k;
  }
  return 0;
}

TEST(ConvergenceCheck, ConvergesAtTheToleranceAndNotBefore) {
  ConvergenceCheck check(1e-3, kNeverGrows);
  EXPECT_EQ(check.observe(1e-2), Progress::kRunning);
  EXPECT_EQ(check.observe(1.1e-3), Progress::kRunning);
  EXPECT_EQ(check.observe(1e-3), Progress::kConverged);
}

TEST(ConvergenceCheck, WithoutAToleranceNeverConverges) {
  ConvergenceCheck check(0, kNeverGrows);
  EXPECT_EQ(check.observe(1e-300), Progress::kRunning);
  EXPECT_EQ(check.observe(0), Progress::kRunning);
}

TEST(ConvergenceCheck, AnExhaustedCriterionIsMetWithoutAnyTolerance) {
  constexpr double kExhausted = 1e-30;
  for (const double tolerance : {0.0, 1e-40}) {
    ConvergenceCheck check(tolerance, kNoLimit, kExhausted);
    EXPECT_EQ(check.observe(1.1e-30), Progress::kRunning);
    EXPECT_EQ(check.observe(1e-30), Progress::kConverged);
    EXPECT_EQ(check.observe(0), Progress::kConverged);
  }
}

TEST(ConvergenceCheck, AChangeThatIsNotFiniteHasDiverged) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    ConvergenceCheck check(1e-3, kNeverGrows);
    EXPECT_EQ(check.observe(1), Progress::kRunning);
    EXPECT_EQ(check.observe(bad), Progress::kDiverged);
  }
}

TEST(ConvergenceCheck, SteadyGrowthHasDivergedLongBeforeItOverflows) {
  Progress verdict{};
  ConvergenceCheck slow(1e-10, kNeverGrows);
  const int slow_at = first_verdict(slow, 1.1, 1000, &verdict);
  EXPECT_EQ(verdict, Progress::kDiverged);
  EXPECT_GT(slow_at, 90);   // 1.1^97 = 1e4
  EXPECT_LT(slow_at, 140);  // and 32 iterations more
  ConvergenceCheck fast(1e-10, kNeverGrows);
  EXPECT_LT(first_verdict(fast, 3.43, 1000, &verdict), 50);
  EXPECT_EQ(verdict, Progress::kDiverged);
}

TEST(ConvergenceCheck, WithoutAKnownLimitGrowthIsNoDivergenceWhileItIsFinite) {
  ConvergenceCheck check(1e-10, kNoLimit);
  Progress verdict{};
  EXPECT_EQ(first_verdict(check, 2, 1023, &verdict), 0);
  EXPECT_EQ(check.observe(std::numeric_limits<double>::infinity()), Progress::kDiverged);
  EXPECT_NEAR(*check.growth_per_iteration(), 2, 1e-12);
}

TEST(ConvergenceCheck, GrowthWithinTheLimitIsNoDivergence) {
  Progress verdict{};
  ConvergenceCheck check(1e-10, 1e9);
  const int at = first_verdict(check, 2, 1000, &verdict);
  EXPECT_EQ(verdict, Progress::kDiverged);
  EXPECT_GE(at, 31 + ConvergenceCheck::kDivergedIterations);  // 2^31 > 2e9
}

TEST(ConvergenceCheck, AHumpOnTheWayIsNotDivergence) {
  // Temporary growth by a factor of a million within 60 iterations, and then decay, as with non-normal matrices.
  ConvergenceCheck check(1e-10, kNeverGrows);
  double change = 1;
  for (int k = 1; k <= 20; ++k) ASSERT_EQ(check.observe(change *= 2), Progress::kRunning) << k;
  Progress verdict = Progress::kRunning;
  for (int k = 1; k <= 2000 && verdict == Progress::kRunning; ++k) verdict = check.observe(change *= 0.95);
  EXPECT_EQ(verdict, Progress::kConverged);
}

TEST(ConvergenceCheck, ALongPlateauIsNotDivergence) {
  ConvergenceCheck check(1e-10, kNeverGrows);
  for (int k = 1; k <= 10'000; ++k) {
    ASSERT_EQ(check.observe(1.0 + 0.5 * std::sin(0.1 * k)), Progress::kRunning) << k;
  }
}

TEST(ConvergenceCheck, EstimatesTheFactorPerIteration) {
  ConvergenceCheck check(0, kNeverGrows);
  EXPECT_FALSE(check.growth_per_iteration());
  check.observe(8);
  EXPECT_FALSE(check.growth_per_iteration());
  check.observe(4);
  EXPECT_NEAR(*check.growth_per_iteration(), 0.5, 1e-12);
  for (int k = 0; k < 100; ++k) check.observe(std::pow(0.9, k));
  EXPECT_NEAR(*check.growth_per_iteration(), 0.9, 1e-12);
}

TEST(ConvergenceCheck, EstimatesTheIterationsLeft) {
  ConvergenceCheck check(1e-6, kNeverGrows);
  EXPECT_FALSE(check.iterations_left());
  check.observe(1e-1);
  check.observe(1e-2);
  ASSERT_TRUE(check.iterations_left());
  EXPECT_NEAR(static_cast<double>(*check.iterations_left()), 4, 1);
  check.observe(1e-7);
  EXPECT_EQ(check.iterations_left(), 0u);
}

TEST(ConvergenceCheck, DoesNotGuessWhereNothingShrinks) {
  ConvergenceCheck growing(1e-6, kNeverGrows);
  growing.observe(1);
  growing.observe(2);
  EXPECT_FALSE(growing.iterations_left());
  ConvergenceCheck without_tolerance(0, kNeverGrows);
  without_tolerance.observe(1);
  without_tolerance.observe(0.5);
  EXPECT_FALSE(without_tolerance.iterations_left());
}

}  // namespace
}  // namespace ringside
