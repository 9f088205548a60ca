// SPDX-License-Identifier: BSD-3-Clause
// Results of analyses, received on the control socket: which results are recorded, where they are recorded, and which
// are refused.
#include <gtest/gtest.h>

#include "analyzer/recorder/answered_requests.hpp"
#include "common/journal/journal_reader.hpp"
#include "tests/unit/analyzer/recorder/recorder_fixture.hpp"

namespace ringside {
namespace {

class AnalysisRecordsTest : public testing::RecorderTest {
 protected:
  static void add_results(wire::RecordAnalysis& to, std::uint64_t commit_seq) {
    wire::AnalysisResults& results = *to.add_results();
    results.set_run_id(bytes_of(step(0).run_id));
    results.set_step(commit_seq - 1);
    results.set_iteration(commit_seq);
    results.set_commit_seq(commit_seq);
    results.add_name("analysis.energy");
    results.add_value(0.5);
  }

  wire::ControlReply ask(const wire::RecordAnalysis& asked) {
    wire::ControlRequest request;
    *request.mutable_record_analysis() = asked;
    Channel channel(context_, ChannelKind::kDealer);
    channel.connect(address().control);
    EXPECT_TRUE(channel.send(request.SerializeAsString()));
    std::vector<std::string> frames;
    while (!channel.receive(frames)) channel.wait(1000);
    wire::ControlReply reply;
    EXPECT_TRUE(reply.ParseFromString(frames.at(0)));
    return reply;
  }
};

TEST_F(AnalysisRecordsTest, AreTakenOnceTheirStepsAreRecordedAndAreInTheJournalWhenTheReplyComes) {
  Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), 0);
  begin(recorder);
  push_committed(recorder, 0, 3);
  take(stream, 2 + 3);
  wire::RecordAnalysis asked;
  asked.set_request(77);
  for (std::uint64_t seq = 1; seq <= 5; ++seq) add_results(asked, seq);
  const wire::ControlReply reply = ask(asked);
  ASSERT_TRUE(reply.has_analysis_recorded()) << reply.ShortDebugString();
  EXPECT_EQ(reply.analysis_recorded().request(), 77u);
  EXPECT_EQ(reply.analysis_recorded().taken(), 3u) << "steps 4 and 5 are not recorded yet";
  const JournalReader journal = JournalReader::open(options().pool);
  EXPECT_EQ(journal.newest_seq(), 8u);
  const auto records = take(stream, 3);
  expect_consecutive(records, 6);
  for (const wire::Record& record : records) {
    ASSERT_TRUE(record.has_analysis_results());
    EXPECT_EQ(record.analysis_results().name(0), "analysis.energy");
    EXPECT_EQ(record.analysis_results().value(0), 0.5);
  }
  EXPECT_EQ(records[2].analysis_results().commit_seq(), 3u);
  end(recorder);
}

TEST_F(AnalysisRecordsTest, OfAnotherRunOrOfNoneAreRefusedAndNothingIsRecorded) {
  Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), 0);
  wire::RecordAnalysis asked;
  add_results(asked, 1);
  const wire::Refused too_early = ask(asked).refused();
  EXPECT_EQ(too_early.why(), "no run is being served");
  EXPECT_TRUE(too_early.may_ask_again());
  begin(recorder);
  push_committed(recorder, 0, 1);
  take(stream, 3);
  wire::RecordAnalysis of_another = asked;
  add_results(of_another, 1);
  of_another.mutable_results(1)->set_run_id("another run's id");
  const wire::Refused other = ask(of_another).refused();
  EXPECT_EQ(other.why(), "the results belong to another run than the one being served");
  EXPECT_FALSE(other.may_ask_again());
  wire::RecordAnalysis wrong = asked;
  wrong.mutable_results(0)->set_name(0, "x.l2");
  EXPECT_NE(ask(wrong).refused().why().find("'x.l2'"), std::string::npos);
  EXPECT_EQ(ask(asked).analysis_recorded().taken(), 1u);
  const auto records = take(stream, 1);
  EXPECT_EQ(records[0].seq(), 4u) << "what was refused took no number";
  end(recorder);
  asked.set_request(asked.request() + 1);
  const wire::ControlReply too_late = ask(asked);
  ASSERT_TRUE(too_late.has_refused());
  EXPECT_FALSE(too_late.refused().may_ask_again()) << "the run has ended";
}

TEST_F(AnalysisRecordsTest, ARequestThatComesAgainIsAnsweredAgainAndNotRecordedAgain) {
  Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), 0);
  begin(recorder);
  push_committed(recorder, 0, 3);
  take(stream, 2 + 3);
  wire::RecordAnalysis asked;
  asked.set_client(5);
  asked.set_request(1);
  for (std::uint64_t seq = 1; seq <= 2; ++seq) add_results(asked, seq);
  EXPECT_EQ(ask(asked).analysis_recorded().taken(), 2u);
  add_results(asked, 3);  // this result arrived while the reply was being sent
  const wire::ControlReply again = ask(asked);
  EXPECT_EQ(again.analysis_recorded().taken(), 2u);
  EXPECT_EQ(again.analysis_recorded().request(), 1u);
  wire::RecordAnalysis next;
  next.set_client(5);
  next.set_request(2);
  add_results(next, 3);
  EXPECT_EQ(ask(next).analysis_recorded().taken(), 1u);
  wire::RecordAnalysis of_another_client = next;
  of_another_client.set_client(6);
  EXPECT_EQ(ask(of_another_client).analysis_recorded().taken(), 1u);
  end(recorder);
  EXPECT_EQ(ask(next).analysis_recorded().taken(), 1u) << "also after the end of the run";
  const JournalReader journal = JournalReader::open(options().pool);
  EXPECT_EQ(journal.newest_seq(), 2u + 3u + 2u + 1u + 1u + 1u);
}

TEST(AnsweredRequestsTest, ClientsThatHaveAskedLongAgoAreForgotten) {
  const auto request_of = [](std::uint64_t client) {
    wire::RecordAnalysis request;
    request.set_client(client);
    request.set_request(1);
    return request;
  };
  AnsweredRequests answered;
  for (std::uint64_t client = 1; client <= AnsweredRequests::kMostClients + 1; ++client)
    answered.add(request_of(client), 7);
  EXPECT_FALSE(answered.taken_of(request_of(1)));
  EXPECT_EQ(answered.taken_of(request_of(2)), 7u);
}

TEST_F(AnalysisRecordsTest, ManyAtOnceFitTheSocketOfThisMachine) {
  Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), 0);
  begin(recorder);
  push_committed(recorder, 0, 1);
  take(stream, 3);
  wire::RecordAnalysis asked;
  while (asked.ByteSizeLong() < 60'000) add_results(asked, 1);
  EXPECT_EQ(ask(asked).analysis_recorded().taken(), static_cast<std::uint32_t>(asked.results_size()));
  end(recorder);
}

}  // namespace
}  // namespace ringside
