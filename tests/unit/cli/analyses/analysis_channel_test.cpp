// SPDX-License-Identifier: BSD-3-Clause
// Results are sent to an analyzer that takes all or some of them, temporarily refuses them, answers twice, or does not
// answer.
#include "cli/analyses/analysis_channel.hpp"

#include <gtest/gtest.h>

#include "tests/unit/cli/analyses/fake_analyzer.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

class AnalysisChannelTest : public ::testing::Test {
 protected:
  static wire::AnalysisResults results_of(std::uint64_t commit_seq) {
    wire::AnalysisResults results;
    results.set_commit_seq(commit_seq);
    return results;
  }
  void add(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t seq = first; seq <= last; ++seq) channel_.add(results_of(seq));
  }

  /// Waits for the next request with results. If there is none, the time limit of the test ends the test.
  const wire::RecordAnalysis& next_request() {
    do {
      channel_.turn(false);
    } while (!analyzer_.receive(1));
    return analyzer_.asked().record_analysis();
  }
  /// Calls the channel's `turn` repeatedly, until is_so() is true.
  template <class Condition>
  void turn_until(const Condition& is_so) {
    while (!is_so()) channel_.turn(false);
  }
  /// The commit_seqs of the results that were not recorded.
  std::vector<std::uint64_t> rest() {
    std::vector<std::uint64_t> seqs;
    for (const wire::AnalysisResults& results : channel_.take_pending()) seqs.push_back(results.commit_seq());
    return seqs;
  }

  testing::TemporaryFolder folder_;
  testing::FakeAnalyzer analyzer_{folder_.file("s")};
  AnalysisChannel channel_{folder_.file("s")};
};

TEST_F(AnalysisChannelTest, SendsResultsInOrderAndKeepsWhatWasNotTaken) {
  add(1, 3);
  const wire::RecordAnalysis first = next_request();
  ASSERT_EQ(first.results_size(), 3);
  EXPECT_EQ(first.results(0).commit_seq(), 1u);
  add(4, 4);
  analyzer_.reply_taken(first.request(), 2);
  const wire::RecordAnalysis second = next_request();
  EXPECT_EQ(second.client(), first.client());
  EXPECT_EQ(second.request(), first.request() + 1);
  ASSERT_EQ(second.results_size(), 2);
  EXPECT_EQ(second.results(0).commit_seq(), 3u);
  analyzer_.reply_taken(second.request(), 0);  // not recorded yet; another answer needs a new number
  const wire::RecordAnalysis third = next_request();
  EXPECT_EQ(third.request(), second.request() + 1);
  EXPECT_EQ(third.results_size(), 2);
  analyzer_.reply_taken(third.request(), 2);
  turn_until([&] { return channel_.is_empty(); });
}

TEST_F(AnalysisChannelTest, OneReplyCountsOnceAlsoIfItComesTwice) {
  add(1, 3);
  const std::uint64_t request = next_request().request();
  analyzer_.reply_taken(request, 1);
  analyzer_.reply_taken(request, 1);
  EXPECT_EQ(next_request().results(0).commit_seq(), 2u);
  analyzer_.reply_taken(request, 1);  // a late reply
  analyzer_.reply_taken(request + 1, 1);
  EXPECT_EQ(next_request().results(0).commit_seq(), 3u);
  EXPECT_EQ(rest(), (std::vector<std::uint64_t>{3}));
}

TEST_F(AnalysisChannelTest, WhatWasRefusedForNowIsAskedAgainAndTaken) {
  add(1, 2);
  const wire::RecordAnalysis early = next_request();
  analyzer_.refuse("no run is being served", true);
  const wire::RecordAnalysis later = next_request();
  EXPECT_EQ(channel_.refusal(), "");
  EXPECT_EQ(later.request(), early.request()) << "it was not answered";
  analyzer_.reply_taken(later.request(), 2);
  turn_until([&] { return channel_.is_empty(); });
}

TEST_F(AnalysisChannelTest, WhatWasRefusedForGoodStaysForTheJournal) {
  add(1, 2);
  next_request();
  analyzer_.refuse("the results belong to another run than the one being served", false);
  turn_until([&] { return !channel_.refusal().empty(); });
  channel_.turn(false);
  EXPECT_FALSE(analyzer_.receive(0));
  EXPECT_EQ(rest(), (std::vector<std::uint64_t>{1, 2}));
}

TEST_F(AnalysisChannelTest, ARequestWithoutAReplyIsSentAgainWithItsNumber) {
  add(1, 2);
  const wire::RecordAnalysis first = next_request();
  add(3, 3);
  const wire::RecordAnalysis again = next_request();
  EXPECT_EQ(again.client(), first.client());
  EXPECT_EQ(again.request(), first.request());
  analyzer_.reply_taken(first.request(), 2);  // the reply to the first request, which had two results
  EXPECT_EQ(next_request().results(0).commit_seq(), 3u);
}

TEST_F(AnalysisChannelTest, AsksForTheStatusBetweenResults) {
  channel_.turn(true);
  while (!analyzer_.receive(1)) channel_.turn(true);
  ASSERT_TRUE(analyzer_.asked().has_status());
  EXPECT_FALSE(channel_.status());
  wire::ControlReply status;
  status.mutable_status()->set_attached(true);
  analyzer_.reply(status);
  turn_until([&] { return channel_.status().has_value(); });
  EXPECT_TRUE(channel_.status()->attached());
  add(1, 1);
  EXPECT_EQ(next_request().results_size(), 1);
}

TEST_F(AnalysisChannelTest, ARequestStaysBelowWhatAnAnalyzerTakesAndTheWaitingResultsAreBounded) {
  wire::AnalysisResults large = results_of(1);
  for (int i = 0; i < 64; ++i) {
    large.add_name("analysis." + std::string(100, 'a'));
    large.add_value(1);
  }
  while (!channel_.is_full()) channel_.add(large);
  EXPECT_EQ(next_request().results_size(), static_cast<int>((48u << 10) / (large.ByteSizeLong() + 8)));
  EXPECT_EQ(rest().size(), AnalysisChannel::kMostPending);
}

}  // namespace
}  // namespace ringside
