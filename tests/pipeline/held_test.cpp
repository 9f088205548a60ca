// SPDX-License-Identifier: BSD-3-Clause
// A reader that works on a run's step in place. The run does not overwrite the step, and all commands accept the gap
// after this step. With too few slots, the run overwrites the step, and reports this.
#include <gtest/gtest.h>

#include <csignal>
#include <sstream>
#include <thread>

#include "common/pool_reader/ring_reader.hpp"
#include "common/threads/team.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class HeldTest : public PipelineTest {
 protected:
  /// Holds the newest step of the run.
  static HeldStep hold_newest(const RingReader& reader) {
    HeldStep step;
    while (reader.hold(kNewestCommit, step) != HoldOutcome::kHeld)
      std::this_thread::yield();  // for a moment after each commit, no step can be held
    return step;
  }
};

TEST_F(HeldTest, ARunLeavesAHeldStepAloneAndEveryCommandAcceptsTheGap) {
  constexpr std::uint64_t kSlots = 6;
  Process first("ringside", run_arguments("grid:50", {kEndless, "--tolerance=0", "--durability=process", "--slots=6"}));
  ASSERT_TRUE(wait_for_commits(kSlots));
  const RingReader reader = RingReader::open(pool_);
  SingleThread team;
  HeldStep step = hold_newest(reader);
  const std::uint64_t held = step.header().iteration;
  ASSERT_TRUE(wait_for_commits(held + 50));
  EXPECT_EQ(step.verify(team), HeldStatus::kOk);
  expect_exit(130, first.stop(SIGINT));
  EXPECT_EQ(summary()["leases_broken"], 0);

  const Json info = pool_info();
  expect_values(info, {{"kept", kSlots}, {"contiguous", kSlots - 1}});
  EXPECT_EQ(info["iterates"][0]["iteration"], held);
  EXPECT_EQ(info["journal"]["records_missing"], 0);
  expect_intact();
  std::istringstream lines(expect_done({"replay", pool_, "--json"}).out);
  std::string line;
  for (std::uint64_t i = 0; i < kSlots && std::getline(lines, line); ++i) {
    const Json iterate = Json::parse(line);
    EXPECT_EQ(iterate["verdict"], "equal");
    EXPECT_EQ(iterate["change_left_out"], i <= 1) << "the steps before these two are gone";
  }

  Process second("ringside", run_arguments("grid:50", {kEndless, "--tolerance=0", "--durability=process", "--resume"}));
  const std::uint64_t newest = info["iterates"][kSlots - 1]["iteration"].get<std::uint64_t>();
  ASSERT_TRUE(wait_for_commits(newest + 20));
  expect_exit(130, second.stop(SIGINT));
  EXPECT_EQ(summary()["resumed_from"], newest);
  EXPECT_EQ(step.check(), HeldStatus::kOk);
  const Json after = pool_info();
  EXPECT_EQ(after["iterates"][0]["iteration"], held);
  EXPECT_EQ(after["journal"]["records_missing"], 0);
  EXPECT_EQ(step.release(), HeldStatus::kOk);
}

TEST_F(HeldTest, WithTooFewSlotsTheRunOverwritesTheStepAndReportsIt) {
  Process running("ringside",
                  run_arguments("grid:50", {kEndless, "--tolerance=0", "--durability=process", "--slots=3"}));
  ASSERT_TRUE(wait_for_commits(3));
  const RingReader reader = RingReader::open(pool_);
  HeldStep step = hold_newest(reader);
  ASSERT_TRUE(wait_for_commits(step.header().commit_seq + 3));
  EXPECT_EQ(step.release(), HeldStatus::kOverwritten);
  const Finished finished = expect_exit(130, running.stop(SIGINT));
  EXPECT_GE(summary()["leases_broken"], 1);
  EXPECT_NE((finished.out + finished.err).find("overwritten while a reader held them"), std::string::npos)
      << finished.out << finished.err;
  expect_intact();
}

}  // namespace
}  // namespace ringside
