// SPDX-License-Identifier: BSD-3-Clause
// A fixture for the tests of recorder and telemetry: a recorder without an analyzer, and the recorder's followers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/journal/journal.hpp"
#include "analyzer/recorder/recorder.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/records/record_message.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/telemetry/record_stream.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside::testing {

class RecorderTest : public ::testing::Test {
 protected:
  RecorderOptions options() const {
    RecorderOptions chosen;
    chosen.pool = folder_.file("test.pool");
    chosen.socket = folder_.file("s");
    chosen.journal.kind = JournalKind::kFile;
    chosen.durability = Durability::kProcess;
    return chosen;
  }

  RecorderOptions without_journal() const {
    RecorderOptions chosen = options();
    chosen.journal.kind = JournalKind::kOff;
    return chosen;
  }

  static StepFigures step(std::uint64_t number) {
    return {.run_id = {3, 4},
            .step = {.step = number, .iteration = number + 1, .generate_ns = 1000},
            .hand_off_ns = 500,
            .steps_committed = number + 1};
  }

  static constexpr std::uint64_t kRows = 10;

  static SharedLayout layout_of(const Schema& schema) {
    return std::make_shared<const RecordLayout>(schema, catalogue_of(schema, residual_scalars()));
  }

  /// The run whose id the steps have.
  static RunToRecord run(const Schema& schema = Schema::x_only(kRows)) {
    RunToRecord run;
    run.layout = layout_of(schema);
    run.started.set_run_id(bytes_of(step(0).run_id));
    run.started.set_solver("pagerank");
    describe(run.started, *run.layout);
    return run;
  }
  static void begin(Recorder& recorder) { recorder.begin_run(run()); }

  /// The values of the step `number`. No value is absent.
  static std::vector<std::uint64_t> values(const RecordLayout& layout, std::uint64_t number) {
    std::vector<std::uint64_t> words(layout.words(), number);
    std::fill_n(words.begin(), layout.counts().absence_words(), 0);
    return words;
  }
  static RecordedStep recorded(std::uint64_t number, std::uint64_t commit_seq) {
    const SharedLayout layout = layout_of(Schema::x_only(kRows));
    RecordedStep recorded{.figures = step(number), .results = StepResults(layout, values(*layout, number))};
    recorded.figures.commit_seq = commit_seq;
    return recorded;
  }

  /// The queue is far from full in these tests.
  static void push(Recorder& recorder, std::uint64_t from, std::uint64_t to,
                   const Schema& schema = Schema::x_only(kRows)) {
    const SharedLayout layout = layout_of(schema);
    for (std::uint64_t i = from; i < to; ++i) ASSERT_TRUE(recorder.queue().push(step(i), values(*layout, i)));
  }

  static void push_committed(Recorder& recorder, std::uint64_t from, std::uint64_t to) {
    const SharedLayout layout = layout_of(Schema::x_only(kRows));
    for (std::uint64_t i = from; i < to; ++i) {
      StepFigures figures = step(i);
      figures.commit_seq = i + 1;
      ASSERT_TRUE(recorder.queue().push(figures, values(*layout, i)));
    }
  }

  static void end(Recorder& recorder) { recorder.end_run({}); }

  /// Records one run with `steps` steps in a recorder that ends afterwards.
  void record_run(const RecorderOptions& options, std::uint64_t steps) {
    Recorder recorder(options, stop_run_);
    begin(recorder);
    push(recorder, 0, steps);
    end(recorder);
  }

  /// Records runs of 4000 steps each, and the beginning of one more run.
  static void record_runs(Recorder& recorder, std::uint64_t runs) {
    begin(recorder);
    for (std::uint64_t i = 0; i < runs; ++i) {
      push(recorder, i * 4000, (i + 1) * 4000);
      end(recorder);
      begin(recorder);
    }
  }

  /// Takes records until `count` have arrived, each once and in order. Other events of the stream go to `events`.
  static std::vector<wire::Record> take(RecordStream& stream, std::size_t count,
                                        std::vector<StreamEvent>* events = nullptr) {
    std::vector<wire::Record> all;
    std::vector<wire::Record> some;
    while (all.size() < count) {  // the test's time limit ends this loop if records are missing
      const StreamEvent event = stream.next(some, 1000);
      if (events != nullptr && event != StreamEvent::kRecords && event != StreamEvent::kNothing) {
        events->push_back(event);
      }
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  /// Takes records until the record of this step has arrived.
  static std::vector<wire::Record> take_up_to(RecordStream& stream, std::uint64_t step) {
    std::vector<wire::Record> records;
    while (records.empty() || !records.back().has_step() || records.back().step().step() != step) {
      for (const wire::Record& record : take(stream, 1)) records.push_back(record);
    }
    return records;
  }

  static void expect_consecutive(const std::vector<wire::Record>& records, std::uint64_t first) {
    for (std::size_t i = 0; i < records.size(); ++i) ASSERT_EQ(records[i].seq(), first + i);
  }

  /// The records in a pool's journal.
  static std::vector<wire::Record> records_in_journal(const std::string& pool) {
    std::vector<wire::Record> records;
    JournalReader reader = JournalReader::open(pool);
    while (const auto encoded = reader.next(0)) {
      EXPECT_TRUE(
          records.emplace_back().ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size())));
    }
    return records;
  }

  TelemetryAddress address() const { return telemetry_at(folder_.file("s")); }

  TemporaryFolder folder_;
  std::atomic<bool> stop_run_{false};
  ChannelContext context_;
};

}  // namespace ringside::testing
