// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/reduce_adaptation.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

class ReduceAdaptationTest : public ::testing::Test {
 protected:
  ReduceAdaptationTest() {
    planned_.high_ns = 100;
    planned_.adapt = true;
  }

  /// Ends enough steps in each mode. slot_ns, transfer_ns: the time of a step in the modes `slot` and `transfer`.
  void run_steps(ReduceAdaptation& adaptation, std::int64_t slot_ns, std::int64_t transfer_ns) {
    for (int step = 0; step < 10 * ReduceAdaptation::kMeasured; ++step) {
      now_ns_ += adaptation.at() == ReduceAt::kSlot ? slot_ns : transfer_ns;
      adaptation.step_ended(now_ns_);
    }
  }

  PlannedStepOptions planned_;
  std::int64_t now_ns_ = 1'000'000;
};

TEST_F(ReduceAdaptationTest, StepsAsPlannedChangeNothing) {
  ReduceAdaptation adaptation(ReduceAt::kSlot, planned_);
  run_steps(adaptation, 100, 10);
  EXPECT_EQ(adaptation.at(), ReduceAt::kSlot);
  EXPECT_FALSE(adaptation.adapted());
}

TEST_F(ReduceAdaptationTest, SlowStepsChangeToTheFasterMode) {
  ReduceAdaptation adaptation(ReduceAt::kSlot, planned_);
  run_steps(adaptation, 150, 120);
  EXPECT_EQ(adaptation.at(), ReduceAt::kTransfer);
  EXPECT_TRUE(adaptation.adapted());
}

TEST_F(ReduceAdaptationTest, AModeThatIsSlowerStillIsGivenUpAgain) {
  ReduceAdaptation adaptation(ReduceAt::kTransfer, planned_);
  run_steps(adaptation, 200, 150);
  EXPECT_EQ(adaptation.at(), ReduceAt::kTransfer);
  EXPECT_TRUE(adaptation.adapted());
}

TEST_F(ReduceAdaptationTest, NothingChangesUnlessAskedFor) {
  planned_.adapt = false;
  ReduceAdaptation adaptation(ReduceAt::kSlot, planned_);
  run_steps(adaptation, 1000, 1);
  EXPECT_EQ(adaptation.at(), ReduceAt::kSlot);
}

TEST_F(ReduceAdaptationTest, WithoutAPlanNothingChanges) {
  planned_.high_ns = 0;
  ReduceAdaptation adaptation(ReduceAt::kSlot, planned_);
  run_steps(adaptation, 1000, 1);
  EXPECT_EQ(adaptation.at(), ReduceAt::kSlot);
}

}  // namespace
}  // namespace ringside
