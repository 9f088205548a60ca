// SPDX-License-Identifier: BSD-3-Clause
#include "cli/supervision/plan_check.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

PlannedStepOptions planned() {
  return {.step_ns = 1'000'000, .low_ns = 900'000, .high_ns = 1'100'000};
}

Json report(std::uint64_t steps, std::int64_t ended_ns) {
  return {{"steps_committed", steps}, {"ended_ns", ended_ns}};
}

TEST(PlanCheckTest, StepsWithinTheIntervalAndFewerThanTwentyStepsAreNotMentioned) {
  for (const Json& next : {report(30, 1'026'000'000), report(24, 9'000'000'000)}) {
    PlanCheck check(planned());
    EXPECT_FALSE(check.observe(report(5, 1'000'000'000)));
    EXPECT_FALSE(check.observe(next)) << next;
  }
}

TEST(PlanCheckTest, StepsOutsideItAreMentionedOnceWithBothFigures) {
  PlanCheck check(planned());
  EXPECT_FALSE(check.observe(report(5, 1'000'000'000)));
  const std::optional<std::string> said = check.observe(report(25, 1'040'000'000));
  ASSERT_TRUE(said);
  EXPECT_NE(said->find("2.00 ms"), std::string::npos) << *said;
  EXPECT_NE(said->find("1.00 ms"), std::string::npos) << *said;
  EXPECT_FALSE(check.observe(report(50, 2'000'000'000)));
}

TEST(PlanCheckTest, AnAnalyzerThatTookOverBeginsAnew) {
  PlanCheck check(planned());
  EXPECT_FALSE(check.observe(report(100, 1'000'000'000)));
  check.begin_anew();
  EXPECT_FALSE(check.observe(report(110, 5'000'000'000)));
  EXPECT_FALSE(check.observe(report(130, 5'020'000'000)));
}

TEST(PlanCheckTest, WithoutAPlanOrFiguresNothingIsSaid) {
  PlanCheck none(PlannedStepOptions{});
  EXPECT_FALSE(none.observe(report(5, 1)));
  EXPECT_FALSE(none.observe(report(500, 1'000'000'000)));
  PlanCheck check(planned());
  EXPECT_FALSE(check.observe(nullptr));
}

}  // namespace
}  // namespace ringside
