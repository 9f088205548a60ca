// SPDX-License-Identifier: BSD-3-Clause
// Conditions on named results: which values they read, when conditions are undefined, and how invalid ones are refused.
#include "common/triggers/condition.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "common/records/record_layout.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A run with variables u, a-b and n, and scalars rho and sweeps. Every value of a step is 0 unless the test sets it.
class ConditionTest : public ::testing::Test {
 protected:
  ConditionTest() {
    const Schema schema = Schema::of({{.name = "u", .dtype = DType::kF64, .shape = {4}},
                                      {.name = "a-b", .dtype = DType::kF64, .shape = {4}},
                                      {.name = "n", .dtype = DType::kI64, .shape = {4}}});
    layout_ = std::make_shared<const RecordLayout>(
        schema,
        catalogue_of(schema, std::vector<Scalar>{{.name = "rho"}, {.name = "sweeps", .type = ValueType::kI64}}));
    inputs_.emplace(layout_);
    words_.resize(layout_->words());
  }

  void set(const char* name, double value) { words_[layout_->find(name)->word] = std::bit_cast<std::uint64_t>(value); }
  void set(const char* name, std::int64_t value) {
    words_[layout_->find(name)->word] = static_cast<std::uint64_t>(value);
  }
  void make_absent(const char* name) {
    const std::size_t number = layout_->find(name)->number;
    words_[number / 64] |= std::uint64_t{1} << (number % 64);
  }

  Condition condition(const std::string& text) { return Condition(text, *inputs_, "--trigger"); }
  std::string refusal(const std::string& text) {
    return failure_line([&] { condition(text); });
  }
  void take() { inputs_->take(words_, facts_); }
  Truth truth(const std::string& text) {
    Condition made = condition(text);
    take();
    return made.evaluate();
  }

  SharedLayout layout_;
  std::optional<ConditionInputs> inputs_;
  std::vector<std::uint64_t> words_;
  StepFacts facts_{.iteration = 500, .step = 499, .time_s = 2.5, .producer_idle = 0.25, .analyzer_idle = 0.5};
};

TEST_F(ConditionTest, ReadsResultsScalarsAndFactsByName) {
  set("u.l2", 3.0);
  set("solver.rho", 0.5);
  set("solver.sweeps", std::int64_t{7});
  EXPECT_EQ(truth("u.l2 > 2.5"), Truth::kTrue);
  EXPECT_EQ(truth("u.l2 > 1e1"), Truth::kFalse);
  EXPECT_EQ(truth("u.l2>2.5e+0&&solver.rho<1"), Truth::kTrue);
  EXPECT_EQ(truth("rho == 0.5"), Truth::kTrue);
  EXPECT_EQ(truth("sweeps == 7"), Truth::kTrue);
  EXPECT_EQ(truth("iteration % 500 == 0"), Truth::kTrue);
  EXPECT_EQ(truth("step % 500 == 0"), Truth::kFalse);
  EXPECT_EQ(truth("time >= 2.5 && producer_idle < analyzer_idle"), Truth::kTrue);
  EXPECT_EQ(truth("max(abs(-u.l2), 1) >= 3 || 0 > 1"), Truth::kTrue);
}

TEST_F(ConditionTest, AChainOfComparisonsIsRefused) {
  for (const char* chain : {"3 < u.max < 5", "0 == iteration < 0", "u.l2 == u.l1 == 3", "1 + (u.l2 < 3 < 4) > 0",
                            "u.l2 > 0 && 1 <= u.max != 3"}) {
    EXPECT_NE(refusal(chain).find("chain of comparisons"), std::string::npos) << chain << ": " << refusal(chain);
  }
  set("u.max", 4.0);
  EXPECT_EQ(truth("3 < u.max && u.max < 5"), Truth::kTrue);
  EXPECT_EQ(truth("(3 < u.max) == (u.max < 5)"), Truth::kTrue);
  EXPECT_EQ(truth("u.max > 9 ? u.max < 10 : u.max > 3"), Truth::kTrue);
  EXPECT_EQ(truth("max(u.max > 9, u.max > 3) > 0"), Truth::kTrue);
  EXPECT_NE(refusal("(u.max > 3").find("without its"), std::string::npos);
  EXPECT_NE(refusal("u.max > 3)").find("without its"), std::string::npos);
}

TEST_F(ConditionTest, NotNegatesWhatFollows) {
  set("u.max", 4.0);
  EXPECT_EQ(truth("!(u.max < 3)"), Truth::kTrue);
  EXPECT_EQ(truth("u.max > 3 &&!(u.max > 3)"), Truth::kFalse);
  EXPECT_EQ(truth("!(u.max > 3) || !(u.max != 4)"), Truth::kTrue);
  set("u.max", kNan);
  EXPECT_EQ(truth("!(u.max < 3)"), Truth::kTrue);
}

TEST_F(ConditionTest, AnIntegerBetweenTwoDoublesDecidesOnlyWhatBothDecide) {
  set("solver.sweeps", std::int64_t{9007199254740993});
  EXPECT_EQ(truth("solver.sweeps > 9007199254740990"), Truth::kTrue);
  EXPECT_EQ(truth("solver.sweeps == 9007199254740992"), Truth::kUndefined);
  EXPECT_EQ(truth("solver.sweeps > 9007199254740992"), Truth::kUndefined);
  EXPECT_EQ(truth("solver.sweeps < 9007199254740992"), Truth::kFalse);
  EXPECT_EQ(truth("solver.sweeps > 9007199254740994"), Truth::kFalse);
  EXPECT_EQ(truth("solver.sweeps % 2 == 0"), Truth::kUndefined);
  set("solver.sweeps", std::int64_t{9007199254740992});
  EXPECT_EQ(truth("solver.sweeps % 2 == 0"), Truth::kTrue);
  set("solver.sweeps", std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(truth("solver.sweeps > 9e18"), Truth::kTrue);
  EXPECT_NE(refusal("solver.sweeps > 9007199254740993").find("9007199254740992"), std::string::npos);
}

TEST_F(ConditionTest, AResultThatIsNamedAsAFactOfTheRunMakesTheShortNameAmbiguous) {
  const Schema schema = Schema::of({{.name = "u", .dtype = DType::kF64, .shape = {4}}});
  layout_ = std::make_shared<const RecordLayout>(schema, catalogue_of(schema, std::vector<Scalar>{{.name = "time"}}));
  inputs_.emplace(layout_);
  words_.assign(layout_->words(), 0);
  EXPECT_NE(refusal("time > 350").find("expected run.time or solver.time"), std::string::npos) << refusal("time > 350");
  set("solver.time", 400.0);
  EXPECT_EQ(truth("solver.time > 350"), Truth::kTrue);
  EXPECT_EQ(truth("run.time > 350"), Truth::kFalse);
  EXPECT_EQ(truth("run.iteration == iteration"), Truth::kTrue);
}

TEST_F(ConditionTest, AMinusInANameIsNoDifferenceIfThereIsSuchAName) {
  set("a-b.l2", 4.0);
  set("u.l2", 3.0);
  EXPECT_EQ(truth("a-b.l2 == 4"), Truth::kTrue);
  EXPECT_EQ(truth("a-b.l2-u.l2 == 1"), Truth::kTrue);
  EXPECT_EQ(truth("rho-iteration < 0"), Truth::kTrue);
}

TEST_F(ConditionTest, PrevIsTheValueOfTheStepBefore) {
  Condition jump = condition("u.l1 > 10 * prev( u.l1 )");
  set("u.l1", 1.0);
  take();
  EXPECT_EQ(jump.evaluate(), Truth::kFalse) << "the first step has none before it";
  set("u.l1", 9.0);
  take();
  EXPECT_EQ(jump.evaluate(), Truth::kFalse);
  set("u.l1", 91.0);
  take();
  EXPECT_EQ(jump.evaluate(), Truth::kTrue);
}

TEST_F(ConditionTest, NonFiniteIsThatOfAllFieldsTogether) {
  Condition any = condition("non_finite > 4");
  set("u.non_finite", std::int64_t{3});
  set("a-b.non_finite", std::int64_t{2});
  take();
  EXPECT_EQ(any.evaluate(), Truth::kTrue);
}

TEST_F(ConditionTest, AnAbsentValueMakesItFalse) {
  make_absent("u.change_l1");
  EXPECT_EQ(truth("u.change_l1 < 1"), Truth::kFalse);
  EXPECT_EQ(truth("u.change_l1 < 1 || iteration > 0"), Truth::kFalse);
}

TEST_F(ConditionTest, AComparisonWithNanIsFalseAndNotUndefined) {
  set("u.l2", kNan);
  EXPECT_EQ(truth("u.l2 > 0"), Truth::kFalse);
  EXPECT_EQ(truth("u.l2 < 0 || u.l2 >= 0"), Truth::kFalse);
  EXPECT_EQ(truth("u.l2 != u.l2"), Truth::kTrue);
}

TEST_F(ConditionTest, AnOperationWithoutAResultIsUndefined) {
  set("u.l2", 0.0);
  set("u.l1", 1.0);
  for (const char* text : {"u.l1 / u.l2 > 3", "u.l2 / u.l2 > 3", "iteration % u.l2 == 0", "log(u.l2) < 0",
                           "sqrt(-u.l1) < 1", "1 / u.l2 < 1", "u.l1 < 1 / 0", "u.l2 != 0 && 1 / u.l2 > 2"}) {
    EXPECT_EQ(truth(text), Truth::kUndefined) << text;
  }
  EXPECT_EQ(truth("(u.l2 != 0 ? 1 / u.l2 : 0) > 2"), Truth::kFalse) << "only one branch is evaluated";
  set("u.l2", 2.0);
  EXPECT_EQ(truth("u.l1 / u.l2 < 3"), Truth::kTrue);
}

TEST_F(ConditionTest, WhatCannotBeUsedIsRefusedWithWhatThereIs) {
  const std::string unknown = refusal("u.l3 > 1");
  EXPECT_TRUE(
      unknown.starts_with("--trigger: the condition cannot be used: the run has nothing named 'u.l3'; expected "
                          "one of u.sum, "))
      << unknown;
  EXPECT_NE(unknown.find("solver.rho"), std::string::npos);
  EXPECT_TRUE(unknown.ends_with("iteration, step, time, producer_idle, analyzer_idle")) << unknown;
  EXPECT_EQ(refusal("l2 > 1"),
            "--trigger: the condition cannot be used: 'l2' is the end of 3 names; expected one of u.l2, a-b.l2, n.l2");
  EXPECT_EQ(refusal("u.histogram > 1"),
            "--trigger: the condition cannot be used: 'u.histogram' has 256 numbers, expected the name of one number");
  EXPECT_EQ(refusal("u.l2"),
            "--trigger: the condition is a number, not a condition; expected a comparison, as in `x.l2 > 0`");
  EXPECT_EQ(refusal("u.l2 + 1"), refusal("u.l2"));
  EXPECT_EQ(refusal("1 > 0"),
            "--trigger: the condition depends on nothing; expected the name of a result, or iteration, time …");
  EXPECT_EQ(refusal("u.l2 = 1"), "--trigger: the condition has a single '=', expected '=='");
  EXPECT_EQ(refusal("u.l2 > \"a\""),
            "--trigger: the condition has '\"a\"', expected names, numbers, operators and brackets");
  EXPECT_EQ(refusal("u.l2 > 0x1"), "--trigger: the condition has '0x', expected a number");
  EXPECT_EQ(refusal("prev() > 1"), "--trigger: the condition has `prev` without a name, expected prev(NAME)");
  EXPECT_EQ(refusal("prev(u.l2"), "--trigger: the condition has `prev` without a name, expected prev(NAME)");
  EXPECT_EQ(refusal("u.l2 > 1, u.l1 > 1"), "--trigger: found 2 conditions separated by commas, expected one");
  for (const char* text : {"u.l2 >", "(u.l2 > 1", "u.l2 > 1)", "u.l2 u.l1 > 1", "nothing(u.l2) > 1", "u.l2 > 1 > ",
                           "prev(2) > u.l2", "> 1", "u.l2 !> 1"}) {
    const std::string why = refusal(text);
    EXPECT_TRUE(why.starts_with("--trigger: the condition ")) << text << ": " << why;
    EXPECT_EQ(why.find("\"v"), std::string::npos) << "a name that the user has not seen: " << why;
  }
}

}  // namespace
}  // namespace ringside
