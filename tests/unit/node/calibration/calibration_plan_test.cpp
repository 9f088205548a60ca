// SPDX-License-Identifier: BSD-3-Clause
#include "node/calibration/calibration_plan.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kFarAway = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kPassed = 0;

class CalibrationPlanTest : public ::testing::Test {
 protected:
  void add(const std::string& name) {
    plan_.add(name, [this, name] { visited_ += name; });
  }
  std::vector<std::string> run(std::int64_t deadline_ns) {
    return plan_.run(deadline_ns, &stop_, [this](const std::string& what, double left_s) {
      announced_ += what;
      EXPECT_GE(left_s, 0);
    });
  }

  CalibrationPlan plan_;
  std::atomic<bool> stop_{false};
  std::string visited_;
  std::string announced_;
};

TEST_F(CalibrationPlanTest, MeasurementsAreVisitedInTurn) {
  add("a");
  add("b");
  EXPECT_TRUE(run(kFarAway).empty());
  std::string in_turn;
  for (int round = 0; round < CalibrationPlan::kMostVisits; ++round) in_turn += "ab";
  EXPECT_EQ(visited_, in_turn);
}

TEST_F(CalibrationPlanTest, EveryVisitIsAnnounced) {
  add("a");
  add("b");
  run(kFarAway);
  EXPECT_EQ(announced_, visited_);
}

TEST_F(CalibrationPlanTest, WithoutTimeTheFirstMeasurementIsMadeThreeTimesAndTheOthersAreLeftOut) {
  add("a");
  add("b");
  add("c");
  EXPECT_EQ(run(kPassed), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(visited_, "aaa");
}

TEST_F(CalibrationPlanTest, AStopEndsThePlanBeforeTheNextVisit) {
  add("a");
  plan_.add("b", [this] { stop_.store(true); });
  add("c");
  EXPECT_NE(failure_line([&] { run(kFarAway); }, ExitCode::kInterrupted), "");
  EXPECT_EQ(visited_, "a");
}

TEST_F(CalibrationPlanTest, AnEmptyPlanIsDoneAtOnce) {
  EXPECT_TRUE(run(kFarAway).empty());
}

}  // namespace
}  // namespace ringside
