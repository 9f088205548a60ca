// SPDX-License-Identifier: BSD-3-Clause
// With simulated caches, the probes give the same answers in every run. On the real machine, the tests check only the
// form of the answers, because the machine's load decides what can be determined.
#include "memory/probe/probes.hpp"

#include <gtest/gtest.h>

#include "common/json/json.hpp"
#include "memory/command/commands.hpp"
#include "memory/probe/real_memory.hpp"
#include "memory/probe/simulated_memory.hpp"
#include "memory/probe/validation.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside::probe {
namespace {

std::string answer_to(const std::string& spec, const std::string& question) {
  SimulatedMemory memory(parse_cache_spec(spec));
  ProbeChoice choice;
  choice.questions = {question};
  for (const Answer& answer : probe_memory(memory, choice).answers) {
    if (answer.question == question) return answer.answer;
  }
  return "no answer";
}

TEST(Probes, GeometriesDrawnAtRandomAreFoundAndNoAnswerIsWrong) {
  if (testing::kSanitized) GTEST_SKIP() << "its very many simulated loads take a minute in a sanitizer's build";
  const Validation found = validate(1, 8);
  EXPECT_EQ(found.with_wrong, 0);
  EXPECT_GE(found.fully_right, 7);
  for (const std::string& failure : found.failures) std::printf("%s\n", failure.c_str());
}

TEST(Probes, WaysOfALevelAreNotThoseOfTheLevelBeforeIt) {
  EXPECT_EQ(answer_to("size=4K,ways=8/size=64K,ways=2", "ways"), "2");
  EXPECT_EQ(answer_to("size=4K,ways=8/size=64K,ways=1", "ways"), "1 (direct-mapped)");
}

TEST(Probes, AFirstLevelOfFewShortLinesIsFoundBeforeOneOfLongLines) {
  SimulatedMemory memory(parse_cache_spec("size=512,line=32,ways=1/size=512K,line=4096,ways=4"));
  ProbeChoice choice;
  choice.questions = {"size", "line"};
  choice.all_levels = true;
  std::vector<std::string> answers;
  for (const Answer& answer : probe_memory(memory, choice).answers) answers.push_back(answer.answer);
  EXPECT_EQ(answers, (std::vector<std::string>{"512 B", "32 B", "512 KiB", "4 KiB"}));
}

TEST(Probes, ASizeIsNotTheEndOfWhereItWasLookedFor) {
  SimulatedMemory memory(parse_cache_spec(
      "size=64K,line=32,ways=16,index=xor,replacement=random,hit=3;memory=373,spikes=0.0005,seed=1025"));
  ProbeChoice choice;
  choice.questions = {"size"};
  const ProbeReport report = probe_memory(memory, choice);
  ASSERT_EQ(report.answers.size(), 1U);
  EXPECT_NEAR(static_cast<double>(report.answers[0].value), 65536, 65536 / 20) << report.answers[0].evidence;
}

TEST(Probes, NeighboursFetchedAheadCountForNoSet) {
  EXPECT_EQ(answer_to("size=64K,line=4096,ways=2,index=xor,prefetch=next-line", "ways"), "2");
  EXPECT_EQ(answer_to("size=12K,line=128,ways=3,index=xor,prefetch=next-line", "replacement"), "lru");
  EXPECT_EQ(answer_to("size=4K,ways=64,prefetch=next-line", "ways"), kUndetermined);
}

TEST(Probes, AReplacementThatDefeatsClearingFeignsNoPrefetch) {
  EXPECT_EQ(answer_to("size=16K,ways=8,replacement=adaptive", "prefetch"), "none");
  EXPECT_EQ(answer_to("size=16K,ways=8,replacement=adaptive", "line"), "64 B");
}

TEST(Probes, APrefetcherOfNextLinesMakesNoLineLonger) {
  EXPECT_EQ(answer_to("size=16K,ways=8,prefetch=next-line", "line"), "64 B");
  EXPECT_EQ(answer_to("size=16K,ways=8,prefetch=next-line", "prefetch"), "next-line");
}

TEST(Probes, AHashOfSetsIsNotTakenForFullAssociativity) {
  EXPECT_EQ(answer_to("size=32K,ways=4,index=xor", "ways"), "4");
  EXPECT_EQ(answer_to("size=4K,ways=64", "ways"), "64 (fully associative)");
}

TEST(Probes, WritesThatNothingWaitsForAreUndetermined) {
  EXPECT_EQ(answer_to("size=16K;posted=yes", "write"), kUndetermined);
  EXPECT_EQ(answer_to("size=16K,write=through", "write"), "write-through, write-allocate");
}

TEST(Probes, CostsThatTellNothingGiveNoAnswer) {
  SimulatedMemory memory(parse_cache_spec("size=16K,hit=80;memory=85,noise=0.5"));
  const ProbeReport report = probe_memory(memory);
  for (const Answer& answer : report.answers) EXPECT_FALSE(answer.determined()) << answer.question << answer.answer;
  EXPECT_FALSE(report.remark.empty());
}

TEST(Probes, OfThisMachineAreConsistentOrUndetermined) {
  RealMemory memory(std::uint64_t{1} << 26);
  ProbeChoice choice;
  choice.questions = {"line"};
  choice.all_levels = true;
  std::uint64_t before = 0;
  for (const Answer& answer : probe_memory(memory, choice).answers) {
    EXPECT_GE(answer.confidence, 0);
    EXPECT_LE(answer.confidence, 1);
    EXPECT_FALSE(answer.evidence.empty());
    if (!answer.determined()) continue;
    EXPECT_GE(answer.value, before);
    before = answer.value;
  }
}

TEST(ProbeCommand, TableAndJsonHaveEveryAnswer) {
  SimulatedMemory memory(parse_cache_spec("size=4K,ways=4"));
  const ProbeReport report = probe_memory(memory);
  const Json json = Json::parse(probe_json(report));
  ASSERT_EQ(json["answers"].size(), std::size(kQuestions));
  for (const auto& answer : json["answers"]) {
    EXPECT_NE(probe_table(report).find(answer["answer"].get<std::string>()), std::string::npos);
  }
}

}  // namespace
}  // namespace ringside::probe
