// SPDX-License-Identifier: BSD-3-Clause
// When triggers fire, and which marks and actions result.
#include "common/triggers/trigger_set.hpp"

#include <gtest/gtest.h>

#include "tests/unit/common/records/some_runs.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

SharedLayout one_field() {
  const Schema schema = Schema::of({{.name = "x", .dtype = DType::kF64, .shape = {8}}});
  return std::make_shared<const RecordLayout>(schema, catalogue_of(schema, {}));
}

class TriggerSetTest : public ::testing::Test {
 protected:
  void make(const std::vector<std::string>& triggers, const std::string& on_non_finite = "mark") {
    set_.emplace(parse_triggers(triggers, on_non_finite), layout_);
    words_.assign(layout_->words(), 0);
  }
  /// The bits of the triggers that fire at the next step. The first bit is that of --on-non-finite.
  std::uint64_t fired(double l2, std::int64_t non_finite = 0) {
    words_[layout_->find("x.l2")->word] = std::bit_cast<std::uint64_t>(l2);
    words_[layout_->find("x.non_finite")->word] = static_cast<std::uint64_t>(non_finite);
    ++figures_.step.iteration;
    marks_ = set_->evaluate(words_, figures_);
    return marks_.fired;
  }

  SharedLayout layout_ = one_field();
  std::optional<TriggerSet> set_;
  std::vector<std::uint64_t> words_;
  StepFigures figures_{};
  StepMarks marks_;
};

TEST_F(TriggerSetTest, ATriggerFiresWhenItsConditionBecomesTrue) {
  make({"x.l2 > 1: mark", "iteration % 2 == 0: keep"});
  EXPECT_EQ(fired(2), 0b010u);
  EXPECT_EQ(fired(3), 0b100u) << "the first condition lasts";
  EXPECT_EQ(fired(0), 0b000u);
  EXPECT_EQ(fired(2), 0b110u);
}

TEST_F(TriggerSetTest, TheFirstNonFiniteStepFires) {
  make({});
  EXPECT_TRUE(set_->guards_finite());
  EXPECT_EQ(fired(1), 0u);
  EXPECT_FALSE(set_->non_finite());
  EXPECT_EQ(fired(1, 3), 1u);
  EXPECT_TRUE(set_->non_finite());
  EXPECT_EQ(fired(1, 4), 0u);
  EXPECT_EQ(set_->actions_of(1), static_cast<std::uint32_t>(kMark));
}

TEST_F(TriggerSetTest, KeepGoingDoesNothing) {
  make({}, "keep-going");
  EXPECT_FALSE(set_->guards_finite());
  EXPECT_EQ(fired(1, 3), 0u);
  EXPECT_FALSE(set_->non_finite());
}

TEST_F(TriggerSetTest, ARunWithoutFloatingPointFieldsHasNothingToGuard) {
  const Schema schema = Schema::of({{.name = "r", .dtype = DType::kF64, .shape = {8}, .role = Role::kState}});
  const auto layout = std::make_shared<const RecordLayout>(schema, catalogue_of(schema, {}));
  TriggerSet set(parse_triggers({}, "freeze,stop"), layout);
  EXPECT_FALSE(set.guards_finite());
  EXPECT_FALSE(set.evaluate(std::vector<std::uint64_t>(layout->words()), {}).any());
}

TEST_F(TriggerSetTest, AConditionWithoutAValueIsMarkedOnceAndCountsAsFalse) {
  make({"1 / x.l2 > 1: stop"});
  EXPECT_EQ(fired(0.5), 0b10u);
  EXPECT_EQ(fired(0), 0u);
  EXPECT_EQ(marks_.undefined, 0b10u);
  EXPECT_EQ(fired(0), 0u);
  EXPECT_EQ(marks_.undefined, 0u);
  EXPECT_EQ(fired(0.5), 0b10u) << "it was false in between";
}

TEST_F(TriggerSetTest, SharesOfWaitingAreThoseOfTheLastSixteenSteps) {
  make({"producer_idle > 0.4: mark", "analyzer_idle > 0.9: mark"});
  figures_.step.generate_ns = 100;
  for (int step = 0; step < 16; ++step) EXPECT_EQ(fired(0), 0u);
  figures_.step.producer_idle_ns = 100;  // half of each step
  int steps = 1;
  while (fired(0) == 0) ++steps;
  EXPECT_EQ(steps, 11);  // 11 of 16 steps wait for 100 ns: in total, 1100 ns of 2700 ns
  figures_.analyzer_idle_ns = 10;
  EXPECT_EQ(fired(0), 0b100u) << "it only waits";
}

TEST_F(TriggerSetTest, TheLastReplyCounts) {
  make({"x.l2 > 1: reply:1", "x.l2 > 2: reply:2", "x.l2 > 2: mark"});
  EXPECT_EQ(set_->reply_of(fired(3)), 2.0);
  EXPECT_EQ(set_->reply_of(0b0010), 1.0);
  EXPECT_EQ(set_->reply_of(0b1000), std::nullopt);
}

TEST_F(TriggerSetTest, TooManyTriggersAndUnknownNamesAreRefused) {
  const std::vector<std::string> many(33, "x.l2 > 1: mark");
  EXPECT_EQ(failure_line([&] { parse_triggers(many, "mark"); }), "--trigger: found 33 triggers, expected 32 at most");
  const std::string why = failure_line([&] { make({"y.l2 > 1: mark"}); });
  EXPECT_TRUE(why.starts_with("--trigger 'y.l2 > 1': the condition cannot be used: the run has nothing named 'y.l2'"))
      << why;
  const std::string global = failure_line([] { TriggerSet({parse_global_trigger("y.l2 > 1: mark")}, one_field()); });
  EXPECT_TRUE(global.starts_with("--global-trigger 'y.l2 > 1': the condition cannot be used: ")) << global;
}

}  // namespace
}  // namespace ringside
