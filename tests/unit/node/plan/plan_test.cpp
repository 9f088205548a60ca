// SPDX-License-Identifier: BSD-3-Clause
#include "node/plan/plan.hpp"

#include <gtest/gtest.h>

#include "common/platform/error.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/node/model/testing_node.hpp"

namespace ringside {
namespace {

using testing::four_cores;
using testing::grid_of_100;

class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    request_.model.problem = grid_of_100();
    request_.model.tier = "/dev/shm";
  }

  PlanRequest request_;
};

TEST_F(PlanTest, HasARowForEverySplitAndMode) {
  EXPECT_EQ(make_plan(four_cores(), request_).rows.size(), 3u * 2 * 2);
}

TEST_F(PlanTest, HasNothingElseThanWhatTheUserFixed) {
  request_.elastic = false;
  request_.reduce_on_transfer = true;
  request_.analyzer_threads = 1;
  const Plan plan = make_plan(four_cores(), request_);
  ASSERT_EQ(plan.rows.size(), 1u);
  EXPECT_EQ(plan.rows[0].configuration, (Configuration{3, 1, true, false}));
}

TEST_F(PlanTest, BothSidesMayHaveFewerCoresThanThereAre) {
  request_.producer_threads = 1;
  request_.analyzer_threads = 1;
  for (const PlanRow& row : make_plan(four_cores(), request_).rows) {
    EXPECT_EQ(row.configuration.producer_threads + row.configuration.analyzer_threads, 2);
  }
}

TEST_F(PlanTest, ALargeMachineIsPlannedForFewerSplitsThanItHas) {
  Node node = four_cores();
  node.cores = 1024;
  const Plan plan = make_plan(node, request_);
  EXPECT_LT(plan.rows.size(), 64u * 4);
  EXPECT_EQ(plan.rows.front().configuration.analyzer_threads, 1);
  EXPECT_GT(plan.rows.back().configuration.analyzer_threads, 900);
}

TEST_F(PlanTest, MoreCoresThanThereAreAreRefused) {
  request_.producer_threads = 4;
  request_.analyzer_threads = 4;
  EXPECT_THROW(make_plan(four_cores(), request_), Error);
}

TEST_F(PlanTest, ChoosesTheLeastExpectedTime) {
  const Plan plan = make_plan(four_cores(), request_);
  for (const PlanRow& row : plan.rows) EXPECT_LE(plan.rows[plan.best].expected_s, row.expected_s * 1.005);
}

TEST_F(PlanTest, OfWaysThatTakeTheSameTimeTheSimplestIsChosen) {
  Node node = four_cores(0);
  for (KernelFigures& figures : node.kernels) {  // copies and sweeps take no time, so that only the split matters
    if (figures.kernel != KernelKind::kGenerate) figures.seconds = testing::series_of(1e-9, 4, 0);
  }
  request_.producer_threads = 3;
  request_.analyzer_threads = 1;
  node.costs.loan_s = Measured{.value = 1};  // a loan that takes a second brings no gain
  const Plan plan = make_plan(node, request_);
  EXPECT_EQ(plan.rows[plan.best].configuration, (Configuration{3, 1, false, false}));
}

TEST_F(PlanTest, IsTheSameForTheSameRequest) {
  const Plan once = make_plan(four_cores(), request_);
  const Plan again = make_plan(four_cores(), request_);
  for (std::size_t i = 0; i < once.rows.size(); ++i) {
    EXPECT_EQ(once.rows[i].expected_s, again.rows[i].expected_s);
    EXPECT_EQ(once.rows[i].low_s, again.rows[i].low_s);
  }
}

TEST_F(PlanTest, AWiderSpreadGivesAWiderInterval) {
  const PlanRow narrow = make_plan(four_cores(0.01), request_).rows[0];
  const PlanRow wide = make_plan(four_cores(0.10), request_).rows[0];
  EXPECT_GT(wide.high_s - wide.low_s, 3 * (narrow.high_s - narrow.low_s));
  EXPECT_LE(narrow.low_s, narrow.prediction.total_s);
  EXPECT_GE(narrow.high_s, narrow.prediction.total_s);
}

TEST_F(PlanTest, ASpreadWithoutMeasureStillGivesAPlan) {
  const Plan plan = make_plan(four_cores(1e6), request_);
  for (const PlanRow& row : plan.rows) EXPECT_TRUE(row.low_s > 0 && row.high_s < 1e6) << row.low_s << row.high_s;
}

TEST_F(PlanTest, NoDrawnPairSpeedsAKernelUpByMoreThanAFifth) {
  NodeModel model = model_of(four_cores(), request_.model);
  const double alone_s = seconds_at(model.find(KernelKind::kGenerate)->seconds, 2);
  model.kernels[static_cast<std::size_t>(KernelKind::kGenerate)]->spread = 0;
  model.pairs = {{.first = KernelKind::kGenerate,
                  .second = KernelKind::kTransfer,
                  .problem = {},
                  .tier = {},
                  .first_threads = 2,
                  .second_threads = 2,
                  .first_s = {.value = alone_s, .spread = 1},
                  .second_s = {.value = 1, .spread = 0}}};
  double least = alone_s;
  double most = alone_s;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const double drawn = resampled(model, seed).pairs[0].first_s.value;
    least = std::min(least, drawn);
    most = std::max(most, drawn);
  }
  EXPECT_NEAR(least, 0.8 * alone_s, 1e-9 * alone_s);
  EXPECT_GT(most, 1.5 * alone_s);
}

TEST_F(PlanTest, WhatTheNodeFileLacksIsLeftOutWithTheReason) {
  Node node = four_cores();
  node.costs.loan_s.reset();
  const Plan plan = make_plan(node, request_);
  EXPECT_EQ(plan.rows.size(), 3u * 2);
  ASSERT_EQ(plan.remarks.size(), 1u);
  expect_has(plan.remarks[0], {"loan_s"});
}

}  // namespace
}  // namespace ringside
