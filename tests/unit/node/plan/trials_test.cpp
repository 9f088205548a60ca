// SPDX-License-Identifier: BSD-3-Clause
// Which trials of a user's program are made, and which one is chosen, for programs whose times are known.
#include "node/plan/trials.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <vector>

namespace ringside {
namespace {

/// A row of a program that scales perfectly: generate_s and analyze_s are the seconds on one core.
PlanRow trial_of(const Configuration& configuration, double generate_s, double analyze_s) {
  const double generate = generate_s / configuration.producer_threads;
  const double analyze = analyze_s / configuration.analyzer_threads;
  PlanRow row{.configuration = configuration, .prediction = {}};
  row.prediction.total_s = std::max(generate, analyze);
  row.prediction.producer_idle_s = row.prediction.total_s - generate;
  row.prediction.analyzer_idle_s = row.prediction.total_s - analyze;
  return row;
}

using Times = std::function<PlanRow(const Configuration&)>;

std::vector<PlanRow> all_trials(const TrialRequest& request, const Times& times) {
  std::vector<PlanRow> tried;
  while (const auto next = next_trial(request, tried)) {
    tried.push_back(times(*next));
    if (tried.size() > 100) throw std::runtime_error("the trials do not end");
  }
  return tried;
}

std::vector<int> analyzer_cores(const std::vector<PlanRow>& tried) {
  std::vector<int> counts;
  for (const PlanRow& row : tried) counts.push_back(row.configuration.analyzer_threads);
  return counts;
}

Times scaling(double generate_s, double analyze_s) {
  return [=](const Configuration& configuration) { return trial_of(configuration, generate_s, analyze_s); };
}

TEST(TrialsTest, TheUsualSplitIsTriedFirstThenAllOthersOnFewCores) {
  const TrialRequest request{.usual = {6, 2, false, false}, .is_reduce_fixed = true};
  const std::vector<PlanRow> tried = all_trials(request, scaling(8, 24));
  EXPECT_EQ(analyzer_cores(tried), (std::vector<int>{2, 1, 3, 4, 5, 6, 7}));
  for (const PlanRow& row : tried)
    EXPECT_EQ(row.configuration.producer_threads + row.configuration.analyzer_threads, 8);
  EXPECT_EQ(tried[best_trial(tried)].configuration, (Configuration{2, 6, false, false}));
  EXPECT_EQ(most_trials(request), 7);
}

TEST(TrialsTest, TwoCoresHaveOneSplitAndTwoWaysToReduce) {
  const TrialRequest request{.usual = {1, 1, false, false}};
  const std::vector<PlanRow> tried = all_trials(request, scaling(1, 1));
  ASSERT_EQ(tried.size(), 2u);
  EXPECT_EQ(most_trials(request), 2);
  EXPECT_EQ(tried[1].configuration, (Configuration{1, 1, true, false}));
}

TEST(TrialsTest, ManyCoresAreBisectedTowardsTheSideThatWaitsLess) {
  for (const double analyze_s : {0.01, 1.0, 5.0, 30.0, 200.0}) {
    const TrialRequest request{.usual = {60, 4, false, false}, .is_reduce_fixed = true};
    const std::vector<PlanRow> tried = all_trials(request, scaling(30, analyze_s));
    EXPECT_LE(static_cast<int>(tried.size()), most_trials(request)) << analyze_s;
    double least_s = 1e9;
    for (int count = 1; count < 64; ++count) {
      least_s = std::min(least_s, trial_of({64 - count, count, false, false}, 30, analyze_s).prediction.total_s);
    }
    EXPECT_LE(tried[best_trial(tried)].prediction.total_s, least_s / kClearlyFaster) << analyze_s;
  }
  EXPECT_EQ(most_trials({.usual = {60, 4, false, false}, .is_reduce_fixed = true}), 7);
}

TEST(TrialsTest, ContradictingTimesEndTheBisection) {
  const TrialRequest request{.usual = {12, 4, false, false}};
  bool producer_waits = false;
  const std::vector<PlanRow> tried = all_trials(request, [&](const Configuration& configuration) {
    producer_waits = !producer_waits;
    return trial_of(configuration, producer_waits ? 1e-3 : 1e3, 1);
  });
  EXPECT_LE(static_cast<int>(tried.size()), most_trials(request));
}

TEST(TrialsTest, TheBestSplitIsTriedWithTheOtherReduction) {
  const TrialRequest request{.usual = {3, 1, false, true}};
  const std::vector<PlanRow> tried = all_trials(request, [](const Configuration& configuration) {
    return trial_of(configuration, 1, configuration.reduce_on_transfer ? 2 : 3);
  });
  ASSERT_EQ(tried.size(), 4u);
  EXPECT_EQ(tried[3].configuration, (Configuration{1, 3, true, true})) << "--elastic keeps its value";
}

TEST(TrialsTest, WhatTheUserFixedIsNotVaried) {
  const TrialRequest both{.usual = {3, 1, true, false}, .is_split_fixed = true, .is_reduce_fixed = true};
  EXPECT_EQ(all_trials(both, scaling(1, 1)).size(), 1u);
  EXPECT_EQ(most_trials(both), 1);
  const TrialRequest split{.usual = {3, 1, true, false}, .is_split_fixed = true};
  const std::vector<PlanRow> tried = all_trials(split, scaling(1, 1));
  ASSERT_EQ(tried.size(), 2u);
  EXPECT_EQ(tried[1].configuration, (Configuration{3, 1, false, false}));
}

TEST(TrialsTest, TheUsualChoiceStaysUnlessAnotherIsClearlyFaster) {
  std::vector<PlanRow> tried(3);
  tried[0].prediction.total_s = 100;
  tried[1].prediction.total_s = 98.5;
  tried[2].prediction.total_s = 120;
  EXPECT_EQ(best_trial(tried), 0u);
  tried[1].prediction.total_s = 97.5;
  EXPECT_EQ(best_trial(tried), 1u);
}

}  // namespace
}  // namespace ringside
