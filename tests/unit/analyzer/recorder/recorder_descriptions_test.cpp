// SPDX-License-Identifier: BSD-3-Clause
// The descriptions of runs in a journal: each log must describe all runs of which it has steps, even if an analyzer was
// killed between two appends. Also tests the limits of batches and messages if a step has many results.
#include <gtest/gtest.h>

#include <filesystem>

#include "analyzer/recorder/record_history.hpp"
#include "common/journal/journal_layout.hpp"
#include "common/journal/journal_log_copy.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/journal/journal_scan.hpp"
#include "common/records/result_names.hpp"
#include "tests/unit/analyzer/recorder/recorder_fixture.hpp"

namespace ringside {
namespace {

class RecorderDescriptionsTest : public testing::RecorderTest {
 protected:
  RecorderOptions small() const {
    RecorderOptions chosen = options();
    chosen.journal.bytes = std::uint64_t{256} << 10;
    return chosen;
  }

  std::string log(std::uint32_t number) const { return journal_log_path(options().pool, number); }

  /// A record of a log, with the offset of the end of its frame.
  struct Placed {
    wire::Record record;
    std::uint64_t end = 0;
  };
  std::vector<Placed> records_of(std::uint32_t number) const {
    std::vector<Placed> records;
    const std::optional<LogCopy> copy = copy_log(log(number));
    if (!copy || copy->file_bytes == 0) return records;
    const LogScan scan = scan_log(copy->bytes(), number, copy->place.begin);
    for (const ScannedRecord& scanned : scan.records) {
      Placed& placed = records.emplace_back();
      EXPECT_TRUE(placed.record.ParseFromArray(copy->bytes().data() + scanned.offset, static_cast<int>(scanned.bytes)));
      placed.end = scanned.offset - sizeof(FrameHeader) + frame_bytes(scanned.bytes);
    }
    return records;
  }
  /// The number of the log that was written last.
  std::uint32_t newer() const {
    const auto first = [this](std::uint32_t number) {
      const auto records = records_of(number);
      return records.empty() ? 0 : records.front().record.seq();
    };
    return first(1) > first(0) ? 1 : 0;
  }

  std::vector<wire::Record> journal() const { return records_in_journal(options().pool); }

  /// Expects that the descriptions in this log are sufficient to name the results of each step in the log.
  void expect_log_describes_itself(std::uint32_t number) const {
    ResultNames names;
    const std::vector<Placed> records = records_of(number);
    ASSERT_FALSE(records.empty());
    for (const Placed& placed : records) names.learn(placed.record);
    for (const Placed& placed : records) {
      ASSERT_TRUE(!placed.record.has_step() || names.knows(placed.record.step())) << placed.record.seq();
    }
  }

  /// Makes a journal whose newer log has steps, but ends before the description that should follow them: the analyzer
  /// was killed between the two appends.
  void make_journal_killed_between_appends() {
    record_run(small(), 800);
    const std::uint32_t number = newer();
    const std::vector<Placed> records = records_of(number);
    std::uint64_t end = 0;
    for (const Placed& placed : records) {
      if (placed.record.has_run_described()) break;
      end = placed.end;
    }
    ASSERT_GT(end, 0u);
    ASSERT_LT(end, records.back().end) << "the newer log has no description to lose";
    std::filesystem::resize_file(log(number), end);
  }

  /// Opens the journal as the next analyzer does, for another run.
  std::vector<wire::Record> next_analyzer(const std::vector<KnownRun>& described_runs = {}) {
    RunToRecord other = run(Schema::x_only(kRows + 1));
    other.started.set_run_id(bytes_of(Id128{5, 6}));
    other.described_runs = described_runs;
    Recorder recorder(small(), stop_run_);
    recorder.begin_run(other);
    end(recorder);
    return journal();
  }

  static std::size_t position_of_last_start(const std::vector<wire::Record>& records) {
    std::size_t at = records.size();
    while (at > 0 && !records[at - 1].has_analyzer_started()) --at;
    return at - 1;
  }
};

TEST_F(RecorderDescriptionsTest, ARunIsDescribedOnceWhereItsLogBeginsWithIt) {
  record_run(options(), 100);
  std::size_t descriptions = 0;
  for (const wire::Record& record : journal()) descriptions += record.has_run_described() ? 1u : 0u;
  EXPECT_EQ(descriptions, 0u) << "its RunStarted is in the log";
}

TEST_F(RecorderDescriptionsTest, EachLogDescribesTheRunsOfWhichItHasSteps) {
  for (int life = 0; life < 3; ++life) {
    record_run(small(), 2000);
    expect_log_describes_itself(newer());
    if (!records_of(1 - newer()).empty()) expect_log_describes_itself(1 - newer());
  }
  for (const wire::Record& record : journal()) {
    if (!record.has_run_described()) continue;
    EXPECT_EQ(record.run_described().run_id(), bytes_of(step(0).run_id));
  }
}

TEST_F(RecorderDescriptionsTest, AnAnalyzerKilledBetweenTheTwoAppendsIsCompletedFromTheOlderLog) {
  make_journal_killed_between_appends();
  const std::vector<wire::Record> records = next_analyzer();
  const std::size_t at = position_of_last_start(records);
  ASSERT_TRUE(records[at + 1].has_run_described());
  EXPECT_EQ(records[at + 1].run_described().run_id(), bytes_of(step(0).run_id));
  EXPECT_TRUE(records[at + 2].has_run_started());
  expect_log_describes_itself(newer());
}

TEST_F(RecorderDescriptionsTest, WithoutTheOlderLogItIsCompletedFromTheRing) {
  make_journal_killed_between_appends();
  const std::uint32_t older = 1 - newer();
  std::filesystem::resize_file(log(older), 0);
  const std::vector<wire::Record> records = next_analyzer({{step(0).run_id, layout_of(Schema::x_only(kRows))}});
  EXPECT_TRUE(records[position_of_last_start(records) + 1].has_run_described());
  expect_log_describes_itself(newer());
}

TEST_F(RecorderDescriptionsTest, WhatNothingDescribesAnyMoreIsLeftWithoutNames) {
  make_journal_killed_between_appends();
  std::filesystem::resize_file(log(1 - newer()), 0);
  const std::vector<wire::Record> records = next_analyzer();
  EXPECT_TRUE(records[position_of_last_start(records) + 1].has_run_started());
  ResultNames names;
  EXPECT_EQ(names.results(records[0].step()).name(0), "#0");
}

TEST_F(RecorderDescriptionsTest, StepsRecordedAnewFromTheRingAreDescribedBeforeThem) {
  RunToRecord later = run(Schema::x_only(kRows + 1));
  later.started.set_run_id(bytes_of(Id128{5, 6}));
  later.kept_steps = {recorded(7, 8), recorded(8, 9)};
  {
    Recorder recorder(options(), stop_run_);
    recorder.begin_run(later);
    end(recorder);
  }
  std::vector<std::string> kinds;
  for (const wire::Record& record : journal()) {
    kinds.emplace_back(record.has_analyzer_started()  ? "analyzer"
                       : record.has_run_described()   ? "described"
                       : record.has_step()            ? "step"
                       : record.has_records_missing() ? "missing"
                                                      : "other");
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"analyzer", "described", "missing", "step", "step", "other", "other"}));
}

Schema many_integer_fields() {
  std::vector<Variable> variables;
  for (int v = 0; v < 256; ++v)
    variables.push_back({.name = "n" + std::to_string(v), .dtype = DType::kI64, .shape = {2}});
  return Schema::of(variables);
}

TEST_F(RecorderDescriptionsTest, StepsWithThousandsOfResultsReachTheirFollowers) {
  const Schema schema = many_integer_fields();
  Recorder recorder(options(), stop_run_);
  RecordStream stream(context_, address(), 0);
  recorder.begin_run(run(schema));
  ASSERT_LT(recorder.queue().capacity(), RecordQueue::kMostCapacity);
  push(recorder, 0, 600, schema);
  const std::vector<wire::Record> records = take_up_to(stream, 599);
  expect_consecutive(records, 1);
  EXPECT_GT(records.back().ByteSizeLong(), 10'000u) << "600 of them are more than a message may have";
  ResultNames names;
  for (const wire::Record& record : records) names.learn(record);
  const StepResults results = names.results(records.back().step());
  EXPECT_EQ(results.size(), 256u * 10 + 2);
  EXPECT_EQ(results.find("n255.mean").words[0], 599u);
  end(recorder);
  EXPECT_TRUE(JournalReader::open(options().pool).damage().empty());
}

TEST(RecordHistoryTest, TheNewestRecordsInMemoryAreAtMostSixtyFourMebibytes) {
  RecordHistory history("");
  const std::string record(std::size_t{60} << 10, 'r');
  for (std::uint64_t seq = 1; seq <= 2000; ++seq) history.keep(seq, record);
  EXPECT_EQ(history.newest_seq(), 2000u);
  const std::uint64_t kept = history.newest_seq() - history.oldest_seq() + 1;
  EXPECT_EQ(kept, RecordHistory::kBytesInMemory / record.size());
}

TEST(RecordHistoryTest, AReplyIsAtMostAsLargeAsAskedForUnlessOneRecordIsLarger) {
  RecordHistory history("");
  for (std::uint64_t seq = 1; seq <= 100; ++seq) history.keep(seq, std::string(1000, 'r'));
  std::string message;
  history.append(1, 100, 10'500, message);
  EXPECT_LE(message.size(), 10'500u);
  EXPECT_GT(message.size(), 9'000u);
  message.clear();
  history.append(1, 100, 500, message);
  EXPECT_GT(message.size(), 1000u);
  EXPECT_LT(message.size(), 1100u);
}

}  // namespace
}  // namespace ringside
