// SPDX-License-Identifier: BSD-3-Clause
// Lines from the process of a user's analyses: those that Ringside's program in this process writes, and those that a
// user's function might write.
#include "cli/analyses/worker_line.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>

namespace ringside {
namespace {

const std::string kStep =
    R"("analysis":1,"run":"000102030405060708090a0b0c0d0eff","step":2,"iteration":3,"commit_seq":4,"skipped":5)";

std::string result_with(const std::string& names, const std::string& values) {
  return R"({"kind":"result","names":)" + names + R"(,"values":)" + values + "," + kStep + "}";
}

TEST(WorkerLineTest, AResultHasItsStepAndTheBitsOfItsNumbers) {
  const auto line = parse_worker_line(
      result_with(R"(["analysis.a","analysis.a.b"])", R"(["3fe0000000000000","7ff8000000abcdef"])"));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->says, WorkerSays::kResult);
  EXPECT_EQ(line->analysis, 1u);
  const wire::AnalysisResults& results = line->results;
  EXPECT_EQ(results.run_id(), std::string("\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\xe\xff", 16));
  EXPECT_EQ(results.step(), 2u);
  EXPECT_EQ(results.iteration(), 3u);
  EXPECT_EQ(results.commit_seq(), 4u);
  EXPECT_EQ(results.skipped(), 5u);
  ASSERT_EQ(results.value_size(), 2);
  EXPECT_EQ(results.name(1), "analysis.a.b");
  EXPECT_EQ(results.value(0), 0.5);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(results.value(1)), 0x7ff8000000abcdefu);
}

TEST(WorkerLineTest, TheOtherKindsHaveTheirMembers) {
  EXPECT_EQ(parse_worker_line(R"({"kind":"hello"})")->says, WorkerSays::kHello);
  const auto ready = parse_worker_line(R"({"kind":"ready","analyses":[["a",1],["b.c-d",7]]})");
  ASSERT_TRUE(ready);
  ASSERT_EQ(ready->analyses.size(), 2u);
  EXPECT_EQ(ready->analyses[1].name, "b.c-d");
  EXPECT_EQ(ready->analyses[1].every, 7u);
  EXPECT_EQ(parse_worker_line(R"({"kind":"refused","why":"my.py, line 3"})")->why, "my.py, line 3");
  EXPECT_EQ(parse_worker_line(R"({"kind":"stopped","why":"x"})")->says, WorkerSays::kStopped);
  EXPECT_EQ(parse_worker_line(R"({"kind":"nothing",)" + kStep + "}")->results.commit_seq(), 4u);
  EXPECT_EQ(parse_worker_line(R"({"kind":"failed",)" + kStep + "}")->says, WorkerSays::kFailed);
  const auto end = parse_worker_line(R"({"kind":"end","commit_seq":3,"skipped":[1,2]})");
  ASSERT_TRUE(end);
  EXPECT_EQ(end->all_skipped, (std::vector<std::uint64_t>{1, 2}));
}

TEST(WorkerLineTest, ALongReasonIsCutBetweenCharacters) {
  const auto why_of = [](const std::string& why) { return parse_worker_line(R"({"kind":"stopped","why":")" + why + "\"}")->why; };
  const std::string wide = "\xf0\x9f\x92\xa5";  // one character
  EXPECT_EQ(why_of(std::string(4092, 'a') + wide + "b"), std::string(4092, 'a') + wide);
  for (std::size_t before = 4093; before < 4096; ++before) {
    EXPECT_EQ(why_of(std::string(before, 'a') + wide + "b"), std::string(before, 'a'));
  }
  EXPECT_EQ(why_of(std::string(5000, 'a')), std::string(4096, 'a'));
}

TEST(WorkerLineTest, WhatIsNoSuchLineIsRefused) {
  const std::string good_name = R"(["analysis.a"])";
  const std::string good_value = R"(["3fe0000000000000"])";
  ASSERT_TRUE(parse_worker_line(result_with(good_name, good_value)));
  const auto replaced = [](std::string text, const std::string& what, const std::string& by) {
    text.replace(text.find(what), what.size(), by);
    return text;
  };
  const std::string good = result_with(good_name, good_value);
  const std::string hostile[] = {
      "",
      "hello",
      "{}",
      "[]",
      "null",
      "\xff\xfe",
      std::string("\0", 1),
      R"({"kind":"hello")",
      R"({"kind":"hello"}})",
      R"({"kind":1})",
      R"({"kind":"greeting"})",
      R"({"kind":"ready"})",
      R"({"kind":"ready","analyses":[]})",
      R"({"kind":"ready","analyses":[["a"]]})",
      R"({"kind":"ready","analyses":[["a",0]]})",
      R"({"kind":"ready","analyses":[["a",-1]]})",
      R"({"kind":"ready","analyses":[["a b",1]]})",
      R"({"kind":"ready","analyses":[[1,1]]})",
      R"({"kind":"refused"})",
      R"({"kind":"refused","why":[]})",
      R"({"kind":"end","skipped":[1.5]})",
      R"({"kind":"end","skipped":7})",
      R"({"kind":"failed"})",
      result_with("[]", "[]"),
      result_with(good_name, "[]"),
      result_with("[]", good_value),
      result_with(R"(["x.l2"])", good_value),
      result_with(R"(["analysis."])", good_value),
      result_with(R"(["analysis.a\nb"])", good_value),
      result_with(R"([7])", good_value),
      result_with(good_name, R"(["3fe"])"),
      result_with(good_name, R"(["0x3fe00000000000"])"),
      result_with(good_name, R"(["3fe000000000000g"])"),
      result_with(good_name, R"(["-fe0000000000000"])"),
      result_with(good_name, "[0.5]"),
      result_with(good_name, "{}"),
      replaced(good, "\"analysis\":1", "\"analysis\":64"),
      replaced(good, "\"analysis\":1", "\"analysis\":\"1\""),
      replaced(good, "0001020304", "00010203"),
      replaced(good, "0001020304", "000102030g"),
      replaced(good, "\"commit_seq\":4", "\"commit_seq\":0"),
      replaced(good, "\"step\":2", "\"step\":-2"),
      replaced(good, "\"step\":2", "\"step\":2e0"),
      replaced(good, "\"skipped\":5", "\"skipped\":18446744073709551616"),
      std::string(100'000, '['),
      R"({"kind":)" + std::string(100'000, '[') + "}",
  };
  for (const std::string& line : hostile) EXPECT_FALSE(parse_worker_line(line)) << line.substr(0, 200);
}

TEST(WorkerLineTest, ALineOfTooManyResultsIsRefused) {
  std::string names = "[";
  std::string values = "[";
  for (int i = 0; i < 65; ++i) {
    names += std::string(i == 0 ? "" : ",") + "\"analysis.a" + std::to_string(i) + "\"";
    values += std::string(i == 0 ? "" : ",") + "\"0000000000000000\"";
  }
  EXPECT_FALSE(parse_worker_line(result_with(names + "]", values + "]")));
}

TEST(WorkerLineTest, NoDamageToALineIsTakenForSomethingElse) {
  const std::string good = result_with(R"(["analysis.a"])", R"(["3fe0000000000000"])");
  std::mt19937 random(11);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = good;
    for (unsigned n = 0; n < 1 + random() % 3; ++n) damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto line = parse_worker_line(damaged.substr(0, random() % 4 == 0 ? random() % damaged.size() : damaged.size()));
    if (!line) continue;
    EXPECT_EQ(line->says, WorkerSays::kResult);
    EXPECT_EQ(line->results.name_size(), 1);
    EXPECT_EQ(line->results.value_size(), 1);
    EXPECT_EQ(line->results.run_id().size(), 16u);
  }
}

}  // namespace
}  // namespace ringside
