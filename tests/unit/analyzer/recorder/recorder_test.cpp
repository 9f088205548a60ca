// SPDX-License-Identifier: BSD-3-Clause
// The recorder and its followers, over real sockets: numbering, past records, restarts, journals that fail.
#include <gtest/gtest.h>

#include <fstream>

#include "common/platform/clock.hpp"
#include "tests/unit/analyzer/recorder/recorder_fixture.hpp"
#include "tests/unit/wire_text.hpp"

namespace ringside {
namespace {

using testing::RecorderTest;

TEST_F(RecorderTest, NumbersAndPublishesEachStepOnceBetweenStartAndEnd) {
  Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), 0);
  begin(recorder);
  push(recorder, 0, 1000);
  end(recorder);
  const auto records = take(stream, 1003);
  ASSERT_EQ(records.size(), 1003u);
  expect_consecutive(records, 1);
  EXPECT_TRUE(records[0].has_analyzer_started());
  EXPECT_TRUE(records[1].has_run_started());
  for (std::uint64_t i = 0; i < 1000; ++i) EXPECT_EQ(records[2 + i].step().step(), i);
  EXPECT_TRUE(records.back().has_run_ended());
}

TEST_F(RecorderTest, TimesDoNotFallAndAreNotBeforeTheRunBegan) {
  Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), 0);
  std::int64_t earliest = realtime_ns();
  begin(recorder);
  push(recorder, 0, 1000);
  end(recorder);
  for (const wire::Record& record : take(stream, 1003)) {
    EXPECT_GE(record.unix_ns(), earliest) << record.seq();
    earliest = record.unix_ns();
  }
}

TEST_F(RecorderTest, WhoComesLateGetsThePastFromTheJournal) {
  Recorder recorder(options(), stop_run_);
  record_runs(recorder, 8);  // more records than are kept in memory
  RecordStream stream(context_, address(), 0);
  const std::size_t all = 1 + 8 * 4002 + 1;
  const auto records = take(stream, all);
  ASSERT_EQ(records.size(), all);
  expect_consecutive(records, 1);
}

TEST_F(RecorderTest, WithoutAJournalThePastIsWhatMemoryHolds) {
  Recorder recorder(without_journal(), stop_run_);
  record_runs(recorder, 5);
  const std::uint64_t newest = 1 + 5 * 4002 + 1;
  RecordStream stream(context_, address(), 0);
  std::vector<wire::Record> records = take(stream, 16384);
  EXPECT_EQ(records.back().seq(), newest);
  expect_consecutive(records, newest - 16384 + 1);
}

TEST_F(RecorderTest, AStreamContinuesBehindADamagedRecordAndSaysWhichOnesAreLost) {
  record_run(options(), 300);
  const std::string log = journal_log_path(options().pool, 0);
  const auto middle = static_cast<std::streamoff>(std::filesystem::file_size(log) / 2);
  std::fstream(log, std::ios::binary | std::ios::in | std::ios::out).seekp(middle).write("damaged", 7);
  Recorder second(options(), stop_run_);
  RecordStream stream(context_, address(), 0);
  std::vector<wire::Record> records;
  std::vector<wire::Record> some;
  RecordRange lost;
  while (records.empty() || records.back().seq() < 303) {
    if (stream.next(some, 1000) == StreamEvent::kNoLongerKept) lost = stream.no_longer_kept();
    records.insert(records.end(), some.begin(), some.end());
  }
  ASSERT_GT(lost.first, 1u);
  EXPECT_GE(lost.last, lost.first);
  EXPECT_LE(lost.last, lost.first + 1) << "a damaged record costs itself, seven bytes at most two";
  std::uint64_t expected = 1;
  for (const wire::Record& record : records) {
    if (expected == lost.first) expected = lost.last + 1;
    ASSERT_EQ(record.seq(), expected++);
  }
  EXPECT_GE(expected, 304u) << "303 were written before";
  begin(second);
  push(second, 0, 10);
  expect_consecutive(take(stream, 11), expected);
}

TEST_F(RecorderTest, AStreamHasHeardOfItsAnalyzerAlthoughThereIsNothingNew) {
  const Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), 1'000'000);
  RecordStream elsewhere(context_, telemetry_at(folder_.file("nobody")), 0);
  std::vector<wire::Record> records;
  while (!stream.has_heard()) stream.next(records, 1000);
  EXPECT_TRUE(records.empty());
  elsewhere.next(records, 0);
  EXPECT_FALSE(elsewhere.has_heard());
}

TEST_F(RecorderTest, AStreamThatWantsWhatIsNoLongerKeptIsToldSo) {
  Recorder recorder(without_journal(), stop_run_);
  record_runs(recorder, 5);
  const std::uint64_t oldest = 1 + 5 * 4002 + 1 - 16384 + 1;
  RecordStream stream(context_, address(), 5);
  std::vector<StreamEvent> events;
  expect_consecutive(take(stream, 16384, &events), oldest);
  EXPECT_EQ(events, std::vector{StreamEvent::kNoLongerKept});
  EXPECT_EQ(stream.no_longer_kept().first, 5u);
  EXPECT_EQ(stream.no_longer_kept().last, oldest - 1);
}

TEST_F(RecorderTest, AStreamContinuesWithTheNextAnalyzerWithoutGapOrDuplicate) {
  std::vector<StreamEvent> events;
  std::vector<wire::Record> records;
  RecordStream stream(context_, address(), 0);
  {
    Recorder recorder(options(), stop_run_);
    begin(recorder);
    push(recorder, 0, 500);
    records = take(stream, 502, &events);
    push(recorder, 500, 600);
    end(recorder);  // the stream must request the missing records from the successor
  }
  Recorder recorder(options(), stop_run_);
  begin(recorder);
  push(recorder, 600, 1000);
  const std::size_t all = 2 + 600 + 1 + 2 + 400;
  for (const wire::Record& record : take(stream, all - records.size(), &events)) records.push_back(record);
  ASSERT_EQ(records.size(), all);
  expect_consecutive(records, 1);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back(), StreamEvent::kNewAnalyzer);
}

TEST_F(RecorderTest, NumbersThatComeAgainAreTakenFromTheNewAnalyzer) {
  RecordStream stream(context_, address(), 0);
  {
    Recorder recorder(without_journal(), stop_run_);
    begin(recorder);
    push(recorder, 0, 300);
    take(stream, 302);
    end(recorder);
  }
  Recorder recorder(without_journal(), stop_run_);
  begin(recorder);
  push(recorder, 1000, 1010);
  std::vector<wire::Record> records = take_up_to(stream, 1009);
  if (records.front().has_run_ended()) records.erase(records.begin());  // that of the first analyzer, if it arrived
  ASSERT_EQ(records.size(), 12u);
  expect_consecutive(records, 1);
}

TEST_F(RecorderTest, AFileThatIsNoJournalInItsPlaceIsGivenUpAndTheStatusHoldsTheReason) {
  folder_.write("test.pool.journal-0", "somebody's letter, which is no journal\n");
  Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), 0);
  begin(recorder);
  push(recorder, 0, 10);
  take(stream, 12);
  const auto status = stream.status(10000);
  ASSERT_TRUE(status);
  EXPECT_NE(status->journal_error().find("journal-0"), std::string::npos) << status->journal_error();
  EXPECT_EQ(status->newest_seq(), 12u);
  EXPECT_EQ(testing::content_of(folder_.file("test.pool.journal-0")), "somebody's letter, which is no journal\n");
}

TEST_F(RecorderTest, ATakeoverNamesTheStepsThatNobodyRecorded) {
  RunToRecord run = RecorderTest::run();
  {
    Recorder recorder(options(), stop_run_);
    recorder.begin_run(run);
    push(recorder, 0, 100);
    end(recorder);
  }
  Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), 0);
  run.started.set_from_step(120);
  recorder.begin_run(run);
  const auto records = take(stream, 103 + 3);
  ASSERT_TRUE(records[104].has_records_missing());
  testing::expect_fields(records[104].records_missing(), "first_step: 100 steps: 20");
}

TEST_F(RecorderTest, ARunThatIsResumedNamesTheStepsThatWereNeverRecorded) {
  RunToRecord run = RecorderTest::run();
  run.started.set_first_commit_seq(1);
  {
    Recorder recorder(options(), stop_run_);
    recorder.begin_run(run);
    push_committed(recorder, 0, 100);
    end(recorder);
  }
  for (std::uint64_t i = 130; i < 138; ++i) {  // the steps that the ring keeps and that are not recorded
    run.kept_steps.push_back(recorded(i, i + 1));
  }
  Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), 0);
  run.started.set_from_step(0);
  run.started.set_from_iteration(138);
  run.started.set_first_commit_seq(139);
  recorder.begin_run(run);
  const auto records = take(stream, 103 + 1 + 1 + 8 + 1);
  EXPECT_EQ(records[103].analyzer_started().rebuilt(), 8u);
  ASSERT_TRUE(records[104].has_records_missing());
  testing::expect_fields(records[104].records_missing(),
                         "first_commit_seq: 101 steps: 30 first_iteration: 101 last_iteration: 130");
  EXPECT_EQ(stream.status(10000)->records_missing(), 30u);
}

TEST_F(RecorderTest, ARunWhoseJournalWasGivenUpIsNamedOnceThereIsAJournalAgain) {
  RunToRecord run = RecorderTest::run();
  run.started.set_first_commit_seq(1);
  Recorder recorder(options(), stop_run_);
  folder_.write("test.pool.journal-0", "somebody's letter, which is no journal\n");
  recorder.begin_run(run);
  push(recorder, 0, 100);
  end(recorder);
  std::filesystem::remove(folder_.file("test.pool.journal-0"));
  run.kept_steps = {recorded(99, 100)};
  run.started.set_first_commit_seq(101);
  recorder.begin_run(run);
  end(recorder);
  const std::vector<wire::Record> records = records_in_journal(options().pool);
  ASSERT_GE(records.size(), 2u);
  EXPECT_TRUE(records[0].has_run_described()) << "the step that the ring still has needs it";
  ASSERT_TRUE(records[1].has_records_missing());
  testing::expect_fields(records[1].records_missing(), "first_commit_seq: 1 steps: 99");
}

TEST_F(RecorderTest, TheStatusSumsWhatWasRecorded) {
  Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), 0);
  begin(recorder);
  push(recorder, 0, 100);
  const std::vector<wire::Record> records = take(stream, 102);
  const auto status = stream.status(10000);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->last().SerializeAsString(), records.back().step().SerializeAsString());
  testing::expect_fields(
      *status, R"(attached: true steps_committed: 100 generate_ns: 100000 hand_off_max_ns: 500 journal: "file")");
  end(recorder);
  while (stream.status(10000)->attached()) {
  }
}

TEST_F(RecorderTest, AStopIsPassedOnWhileARunIsServedAndRefusedElse) {
  Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), RecordStream::kNoRecords);
  EXPECT_EQ(stream.stop(10000), StopAnswer::kRefused);
  EXPECT_FALSE(stop_run_.load());
  begin(recorder);
  while (!stream.status(10000)->attached()) {
  }
  EXPECT_EQ(stream.stop(10000), StopAnswer::kStopping);
  EXPECT_TRUE(stop_run_.load());
}

TEST_F(RecorderTest, ManyJoinAndLeaveAndEachSeesAnUnbrokenSequence) {
  Recorder recorder(options(), stop_run_);
  begin(recorder);
  std::uint64_t pushed = 0;
  for (int i = 0; i < 20; ++i) {
    RecordStream stream(context_, address(), 0);
    push(recorder, pushed, pushed + 100);
    pushed += 100;
    expect_consecutive(take(stream, pushed + 2), 1);
  }
}

TEST_F(RecorderTest, NobodyElseMayOpenTheSockets) {
  const Recorder recorder(options(), stop_run_);
  for (const char* name : {"s.telemetry", "s.control"}) {
    EXPECT_EQ(testing::mode_of(folder_.file(name)), 0600u) << name;
  }
}

}  // namespace
}  // namespace ringside
