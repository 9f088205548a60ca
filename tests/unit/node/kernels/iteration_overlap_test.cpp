// SPDX-License-Identifier: BSD-3-Clause
#include "node/kernels/iteration_overlap.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(IterationOverlapTest, EachIterationHasTheTimeOfTheStepsThatItMeets) {
  const std::vector<WorkSpan> iterations = {
      {0, 10 * kMs}, {10 * kMs, 20 * kMs}, {21 * kMs, 30 * kMs}, {30 * kMs, 40 * kMs}};
  const std::vector<WorkSpan> steps = {{1 * kMs, 3 * kMs}, {4 * kMs, 5 * kMs}, {8 * kMs, 25 * kMs}};
  const std::vector<double> overlaps = overlaps_s(iterations, steps);
  ASSERT_EQ(overlaps.size(), 4u);
  EXPECT_DOUBLE_EQ(overlaps[0], 0.005);
  EXPECT_DOUBLE_EQ(overlaps[1], 0.010);
  EXPECT_DOUBLE_EQ(overlaps[2], 0.004);
  EXPECT_DOUBLE_EQ(overlaps[3], 0.0);
}

TEST(IterationOverlapTest, WithoutStepsThereIsNoOverlap) {
  EXPECT_EQ(overlaps_s(std::vector<WorkSpan>{{0, kMs}}, {}), std::vector<double>{0.0});
}

TEST(IterationOverlapTest, AnIterationThatIsBesideTheOtherSideAllTheTimeIsTakenAsMeasured) {
  EXPECT_DOUBLE_EQ(seconds_beside(1.0, 1.6, 1.6), 1.6);
}

TEST(IterationOverlapTest, AnIterationThatIsPartlyBesideTheOtherSideIsExtended) {
  // Half of the 1.2 s was beside the other side, and took 0.2 s longer than alone: a third of that half is lost.
  EXPECT_DOUBLE_EQ(seconds_beside(1.0, 1.2, 0.6), 1.5);
}

TEST(IterationOverlapTest, NoiseStaysWithinBounds) {
  EXPECT_DOUBLE_EQ(seconds_beside(1.0, 0.5, 0.01), 0.8);
  EXPECT_NEAR(seconds_beside(1.0, 1.5, 0.01), 20.0, 1e-9);
}

/// `count` iterations, one after another, from begun_ms on.
std::vector<WorkSpan> iterations(int count, std::int64_t begun_ms, std::int64_t each_ms) {
  std::vector<WorkSpan> spans;
  for (int i = 0; i < count; ++i)
    spans.push_back({(begun_ms + i * each_ms) * kMs, (begun_ms + (i + 1) * each_ms) * kMs});
  return spans;
}

TEST(IterationOverlapTest, AKnownLossIsFoundFromIterationsAndSteps) {
  // Iterations take 12 ms instead of 10 ms. 5 ms of each are beside a step, so the step costs 2 of these 5 ms: 0.4.
  std::vector<WorkSpan> steps;
  for (std::int64_t i = 0; i < 5; ++i) steps.push_back({i * 12 * kMs, (i * 12 + 5) * kMs});
  EXPECT_NEAR(median_beside(iterations(5, 100, 10), iterations(5, 0, 12), steps).value(), 0.010 / (1 - 0.4), 1e-12);
}

TEST(IterationOverlapTest, IterationsWithoutAStepDoNotCountAsBesideIt) {
  const std::vector<WorkSpan> steps = {{0, 12 * kMs}};  // a disk delayed the other steps
  EXPECT_NEAR(median_beside(iterations(5, 100, 10), iterations(5, 0, 12), steps).value(), 0.012, 1e-12);
}

TEST(IterationOverlapTest, WithoutStepsNothingIsKnownOfIterationsBesideThem) {
  EXPECT_FALSE(median_beside(iterations(2, 0, 1), iterations(2, 9, 1), {}).has_value());
}

}  // namespace
}  // namespace ringside
