// SPDX-License-Identifier: BSD-3-Clause
// The times of a trial, from its recorded steps. tests/pipeline/program makes whole trials.
#include "cli/run/program_trial.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "node/plan/trials.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Steps that are published every 10 ms, 3 of which the producer waits; the first `slow` ones take ten times as long.
std::vector<PlainStep> steps(std::size_t count, std::size_t slow = 0) {
  std::vector<PlainStep> all(count);
  std::int64_t now_ns = 5 * kMs;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t factor = i < slow ? 10 : 1;
    now_ns += factor * 10 * kMs;
    all[i].published_at_ns = now_ns;
    all[i].generate_ns = factor * 7 * kMs;
    all[i].producer_idle_ns = factor * 3 * kMs;
    all[i].transfer_ns = 4 * kMs;
    all[i].commit_ns = 1 * kMs;
    all[i].analyze_ns = 5 * kMs;
    all[i].analyzer_idle_ns = 0;
  }
  return all;
}

TEST(ProgramTrialTest, TheTimesAreMediansWithoutTheFirstSteps) {
  const Configuration configuration{2, 1, true, false};
  const auto row = measured_row(configuration, steps(trial_steps(2), kUncountedSteps));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->configuration, configuration);
  EXPECT_DOUBLE_EQ(row->prediction.total_s, 0.010);
  EXPECT_DOUBLE_EQ(row->low_s, 0.010);
  EXPECT_DOUBLE_EQ(row->high_s, 0.010) << "the first steps are slower, and do not count";
  EXPECT_DOUBLE_EQ(row->prediction.generate_s, 0.007);
  EXPECT_DOUBLE_EQ(row->prediction.producer_idle_s, 0.003);
  EXPECT_DOUBLE_EQ(row->prediction.transfer_s, 0.004);
  EXPECT_DOUBLE_EQ(row->prediction.commit_s, 0.001);
  EXPECT_DOUBLE_EQ(row->prediction.analyze_s, 0.005);
  EXPECT_EQ(row->prediction.bottleneck, Bottleneck::kAnalyze);
}

TEST(ProgramTrialTest, TheStepsThatFillTheBuffersDoNotCount) {
  constexpr std::size_t kBuffers = 64;
  std::vector<PlainStep> some = steps(trial_steps(kBuffers));
  for (std::size_t i = 0; i < kBuffers; ++i) some[i].published_at_ns = static_cast<std::int64_t>(i);
  const auto row = measured_row({1, 1, false, false}, some, kBuffers);
  ASSERT_TRUE(row);
  EXPECT_DOUBLE_EQ(row->low_s, 0.010);
}

TEST(ProgramTrialTest, LongStepsDoNotChangeTheMedianButTheRange) {
  std::vector<PlainStep> some = steps(trial_steps(2));
  for (const std::size_t late : {std::size_t{12}, std::size_t{16}}) {
    for (std::size_t i = late; i < some.size(); ++i) some[i].published_at_ns += 500 * kMs;
  }
  const auto row = measured_row({1, 1, false, false}, some);
  ASSERT_TRUE(row);
  EXPECT_DOUBLE_EQ(row->prediction.total_s, 0.010);
  EXPECT_DOUBLE_EQ(row->high_s, 0.510);
}

TEST(ProgramTrialTest, AShortTrialIsUsedIfItHasAnIntervalThatCounts) {
  EXPECT_FALSE(measured_row({}, steps(kLeastTrialSteps - 1)));
  const auto row = measured_row({}, steps(kLeastTrialSteps, 1));
  ASSERT_TRUE(row);
  EXPECT_DOUBLE_EQ(row->prediction.total_s, 0.010);
  EXPECT_DOUBLE_EQ(row->prediction.generate_s, 0.007);
}

TEST(ProgramTrialTest, AStepThatTheProgramSkippedCountsAsAStep) {
  std::vector<PlainStep> some = steps(trial_steps(2));
  for (PlainStep& step : some) step.skipped_before = 1;
  EXPECT_DOUBLE_EQ(measured_row({}, some)->prediction.total_s, 0.005);
}

}  // namespace
}  // namespace ringside
