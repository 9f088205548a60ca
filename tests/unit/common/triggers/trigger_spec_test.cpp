// SPDX-License-Identifier: BSD-3-Clause
// The texts that users give for --trigger and --on-non-finite.
#include "common/triggers/trigger_spec.hpp"

#include <gtest/gtest.h>

#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

using Texts = std::vector<std::string>;

TEST(TriggerSpecTest, AConditionAndItsActions) {
  const TriggerSpec spec = parse_trigger(" x.l2 > 1 : freeze,stop , reply:-2.5e-1");
  EXPECT_EQ(spec.condition, "x.l2 > 1");
  EXPECT_EQ(spec.name, "x.l2 > 1");
  EXPECT_EQ(spec.actions, kFreeze | kStop | kReply);
  EXPECT_EQ(spec.reply, -0.25);
  EXPECT_EQ(action_texts(spec), (Texts{"freeze", "stop", "reply:-0.25"}));
}

TEST(TriggerSpecTest, AMarkMayHaveAName) {
  EXPECT_EQ(parse_trigger("x > 1: mark:too large").name, "too large");
  EXPECT_EQ(parse_trigger("x > 1: mark").name, "x > 1");
  EXPECT_EQ(parse_trigger("x > 1: mark : a, keep").actions, kMark | kKeep);
}

TEST(TriggerSpecTest, AConditionMayHaveColonsOfItsOwn) {
  EXPECT_EQ(parse_trigger("(a > 1 ? b : c) > 2: stop").condition, "(a > 1 ? b : c) > 2");
}

TEST(TriggerSpecTest, WhatIsNoTriggerIsRefusedWithWhatWasFoundAndWhatIsExpected) {
  const auto refusal = [](const std::string& text) {
    return between("--trigger '" + text + "': ", failure_line([&] { parse_trigger(text); }), "");
  };
  const std::string actions = "expected freeze, stop, keep, mark[:NAME] or reply:VALUE";
  EXPECT_EQ(refusal("x > 1: frieze"), "unknown action 'frieze'; " + actions);
  EXPECT_EQ(refusal("x > 1: stop, frieze"), "unknown action 'frieze'; " + actions);
  EXPECT_EQ(refusal("x > 1: stop,"), "unknown action ''; " + actions);
  EXPECT_EQ(refusal("x > 1:"), "unknown action ''; " + actions);
  EXPECT_EQ(refusal("x > 1"),
            "found no action; expected 'CONDITION: ACTION[, ACTION]', as in 'non_finite > 0: freeze, stop'");
  EXPECT_EQ(refusal(": stop"),
            "found no condition; expected 'CONDITION: ACTION[, ACTION]', as in 'non_finite > 0: freeze, stop'");
  EXPECT_EQ(refusal("x > 1: stop, stop"), "found the action stop twice, expected it once");
  EXPECT_EQ(refusal("x > 1: stop:3"), "found 'stop:3', but stop has no value; " + actions);
  EXPECT_EQ(refusal("x > 1: reply"), "found 'reply', expected reply:VALUE with a number");
  EXPECT_EQ(refusal("x > 1: reply:much"), "found 'reply:much', expected reply:VALUE with a number");
  EXPECT_EQ(refusal("x > 1: mark:"), "found the name '', expected mark:NAME with 1 to 63 bytes");
  EXPECT_NE(refusal((std::string(501, 'x') + "> 1: stop").c_str()).find("504 bytes, expected 500 at most"),
            std::string::npos);
}

TEST(TriggerSpecTest, ATablesEntryHasItsNameUnlessItHasOneOfItsOwn) {
  EXPECT_EQ(named_trigger("nan", "x > 1: stop"), "x > 1: mark:nan, stop");
  EXPECT_EQ(named_trigger("nan", "x > 1: stop, mark"), "x > 1: mark:nan, stop");
  EXPECT_EQ(named_trigger("nan", "x > 1: mark:own, stop"), "x > 1: mark:own, stop");
  EXPECT_EQ(named_trigger("nan", "x > 1"), "x > 1");
  EXPECT_EQ(parse_trigger(named_trigger("nan", "x > 1: stop")).name, "nan");
}

TEST(TriggerSpecTest, OnNonFiniteHasActionsOrNone) {
  EXPECT_EQ(parse_on_non_finite("mark").actions, static_cast<std::uint32_t>(kMark));
  EXPECT_EQ(parse_on_non_finite("freeze,stop").actions, kFreeze | kStop);
  EXPECT_EQ(parse_on_non_finite("keep-going").actions, 0u);
  EXPECT_TRUE(parse_on_non_finite("mark").on_non_finite);
  EXPECT_EQ(failure_line([] { parse_on_non_finite("freeze,halt"); }),
            "--on-non-finite: found 'freeze,halt', expected keep-going, or some of mark, freeze, stop, keep");
  EXPECT_NE(failure_line([] { parse_on_non_finite("reply:1"); }), "");
}

}  // namespace
}  // namespace ringside
