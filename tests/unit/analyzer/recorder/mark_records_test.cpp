// SPDX-License-Identifier: BSD-3-Clause
// The marks of a step are recorded.
#include "analyzer/recorder/mark_records.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "analyzer/recorder/run_status.hpp"
#include "common/records/record_message.hpp"
#include "tests/unit/wire_text.hpp"

namespace ringside {
namespace {

const std::vector<TriggerSpec> kTriggers = {parse_on_non_finite("freeze"), parse_trigger("x.l2 > 1: mark:large, stop"),
                                            parse_trigger("1 / x.l2 > 1: keep")};

std::vector<wire::Record> records_of(const StepMarks& marks) {
  const StepFigures figures{.run_id = {1, 2}, .step = {.step = 119, .iteration = 120}, .commit_seq = 420};
  return mark_records(marks, figures, kTriggers);
}

TEST(MarkRecordsTest, EachTriggerThatFiredHasOneWithItsStepNameAndActions) {
  const auto records = records_of({.fired = 0b110});
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].mark().run_id(), bytes_of({1, 2}));
  testing::expect_fields(records[0].mark(), R"(step: 119 iteration: 120 commit_seq: 420 cause: "trigger" name: "large"
                                               text: "x.l2 > 1" action: "stop" action: "mark")");
  EXPECT_EQ(records[1].mark().name(), "1 / x.l2 > 1");
}

TEST(MarkRecordsTest, NonFiniteEntriesAreCountedAndTheLastFiniteStepIsNamed) {
  const auto records = records_of({.fired = 1, .non_finite = 3, .last_finite_iteration = 119});
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].mark().cause(), "non_finite");
  EXPECT_EQ(records[0].mark().text(),
            "3 entries are NaN or infinite; the last finite step, iteration 119, is not overwritten");
  EXPECT_EQ(records_of({.fired = 1, .non_finite = 3, .last_finite_iteration = 0})[0].mark().text(),
            "3 entries are NaN or infinite; the last finite step, iteration 0, is not overwritten");
  EXPECT_EQ(records_of({.fired = 1, .non_finite = 3})[0].mark().text(),
            "3 entries are NaN or infinite; no finite step is kept");
}

TEST(MarkRecordsTest, AFreezeThatCouldNotBeWrittenSaysSo) {
  const std::string text = records_of({.fired = 1, .non_finite = 3, .freeze_error = ENOSPC})[0].mark().text();
  EXPECT_NE(text.find("the freeze could not be written (No space left on device)"), std::string::npos) << text;
}

TEST(MarkRecordsTest, AConditionWithoutAValueAndAStepThatWasNotArchivedHaveTheirOwn) {
  const auto records = records_of({.undefined = 0b100, .not_archived = 2});
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].mark().cause(), "undefined");
  EXPECT_EQ(records[0].mark().action_size(), 0);
  EXPECT_EQ(records[1].mark().cause(), "not_archived");
  EXPECT_TRUE(records[1].mark().text().starts_with("2 steps up to this one could not be copied to the archive"));
}

TEST(MarkRecordsTest, TheStatusKnowsSinceWhenTheRingIsFrozen) {
  RunStatus status;
  status.begin({});
  for (const auto& record : records_of({.fired = 0b010})) status.add(record.mark());
  wire::Status said;
  status.describe(said);
  EXPECT_FALSE(said.has_frozen_at_iteration());
  for (const auto& record : records_of({.fired = 0b001})) status.add(record.mark());
  status.describe(said);
  EXPECT_EQ(said.frozen_at_iteration(), 120u);
  wire::RunStarted continued;
  continued.set_frozen_at_iteration(77);
  status.begin(continued);
  said.Clear();
  status.describe(said);
  EXPECT_EQ(said.frozen_at_iteration(), 77u);
  continued.set_frozen_at_iteration(0);
  status.begin(continued);
  status.describe(said);
  EXPECT_TRUE(said.has_frozen_at_iteration());
  EXPECT_EQ(said.frozen_at_iteration(), 0u);
}

}  // namespace
}  // namespace ringside
