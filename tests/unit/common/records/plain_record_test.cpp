// SPDX-License-Identifier: BSD-3-Clause
// Records decoded without Protocol Buffers, compared with what the Protocol Buffers library decodes from the same
// bytes.
#include "common/records/plain_record.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>
#include <vector>

#include "common/records/record_message.hpp"
#include "common/records/result_names.hpp"
#include "tests/unit/common/records/some_runs.hpp"
#include "tests/unit/wire_text.hpp"

namespace ringside {
namespace {

using testing::mixed_layout;
using testing::mixed_words;
using testing::wire_message;

const std::string kRunId = "0123456789abcdef";

wire::Record step_record() {
  auto record = wire_message<wire::Record>(R"(
      seq: 7 unix_ns: -5 step {
        run_id: "0123456789abcdef" step: 1 iteration: 300 commit_seq: 9223372036854775808 published_at_ns: 11
        generate_ns: 12 producer_idle_ns: -13 analyzer_idle_ns: 14 hand_off_ns: 15 transfer_ns: 16 commit_ns: 17
        analyze_ns: 18 record_ns: 21 bytes_transferred: 19 skipped_before: 20 rebuilt: true broke_lease: true
      })");
  const SharedLayout layout = mixed_layout();
  fill(*record.mutable_step()->mutable_results(), *layout, mixed_words(*layout));
  return record;
}

wire::Record described_record() {
  wire::Record record;
  *record.mutable_run_described() = describe_run(kRunId, *mixed_layout());
  return record;
}

wire::Record older_record() {
  return wire_message<wire::Record>(R"(
      step {
        residual_l1: 0.5 residual_linf: 0.25 reductions {
          sum: 1 mean: 2 min: 3 max: 4 l1: 5 l2: 6 linf: 7 non_finite: 11
          has_change: true change_l1: 8 change_l2: 9 change_linf: 10
        }
      })");
}

std::vector<std::string> names_and_texts(const StepResults& results) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < results.size(); ++i) texts.push_back(results.name(i) + " " + to_text(results.value(i)));
  return texts;
}

TEST(PlainRecordTest, EveryFieldOfAStepIsThere) {
  const auto record = decode_record(step_record().SerializeAsString());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->seq, 7u);
  EXPECT_EQ(record->unix_ns, -5);
  EXPECT_EQ(record->kind, RecordKind::kStep);
  EXPECT_EQ(record->run_id, kRunId);
  const PlainStep& step = record->step;
  EXPECT_EQ(step.step, 1u);
  EXPECT_EQ(step.iteration, 300u);
  EXPECT_EQ(step.commit_seq, std::uint64_t{1} << 63);
  EXPECT_EQ(step.published_at_ns, 11);
  EXPECT_EQ(step.generate_ns, 12);
  EXPECT_EQ(step.producer_idle_ns, -13);
  EXPECT_EQ(step.analyzer_idle_ns, 14);
  EXPECT_EQ(step.hand_off_ns, 15);
  EXPECT_EQ(step.transfer_ns, 16);
  EXPECT_EQ(step.commit_ns, 17);
  EXPECT_EQ(step.analyze_ns, 18);
  EXPECT_EQ(step.record_ns, 21);
  EXPECT_EQ(step.bytes_transferred, 19u);
  EXPECT_EQ(step.skipped_before, 20u);
  EXPECT_TRUE(step.rebuilt);
  EXPECT_TRUE(step.broke_lease);
}

TEST(PlainRecordTest, ResultsHaveTheNamesAndValuesThatTheOtherDecoderGives) {
  for (const wire::Record& message : {step_record(), older_record()}) {
    ResultNames names;
    ResultNames plain_names(ResultNames::kAll);
    const auto record = decode_record(message.SerializeAsString());
    ASSERT_TRUE(record);
    const auto plain = [&] { return plain_names.named(record->step.results, record->step.catalogue); };
    EXPECT_EQ(names_and_texts(plain()), names_and_texts(names.results(message.step())));
    names.learn(described_record());
    plain_names.learn(decode_record(described_record().SerializeAsString()).value().layout);
    EXPECT_EQ(names_and_texts(plain()), names_and_texts(names.results(message.step())));
  }
}

TEST(PlainRecordTest, TheResultsOfAnAnalysisHaveTheirBits) {
  auto message = wire_message<wire::Record>(R"(
      analysis_results {
        run_id: "0123456789abcdef" step: 1 iteration: 2 commit_seq: 3 skipped: 4 name: "analysis.a" name: "analysis.b"
      })");
  wire::AnalysisResults& results = *message.mutable_analysis_results();
  for (const std::uint64_t bits : {0x7ff8000000abcdefu, 0x8000000000000000u}) results.add_value(std::bit_cast<double>(bits));
  const auto record = decode_record(message.SerializeAsString());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, RecordKind::kAnalysisResults);
  EXPECT_EQ(record->run_id, kRunId);
  EXPECT_EQ(record->step.step, 1u);
  EXPECT_EQ(record->step.iteration, 2u);
  EXPECT_EQ(record->step.commit_seq, 3u);
  EXPECT_EQ(record->names, (std::vector<std::string>{"analysis.a", "analysis.b"}));
  EXPECT_EQ(record->values, (std::vector<std::uint64_t>{0x7ff8000000abcdefu, 0x8000000000000000u}));
  results.add_name("analysis.c");  // a name without a value
  EXPECT_FALSE(decode_record(message.SerializeAsString()));
}

TEST(PlainRecordTest, AMarkHasItsStepAndItsTexts) {
  const auto message = wire_message<wire::Record>(R"(
      mark {
        run_id: "0123456789abcdef" step: 1 iteration: 2 commit_seq: 3 cause: "trigger" name: "large" text: "x.max > 1"
        action: "freeze" action: "reply:0.5"
      })");
  const auto record = decode_record(message.SerializeAsString());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->kind, RecordKind::kMark);
  EXPECT_EQ(record->run_id, kRunId);
  EXPECT_EQ(record->step.step, 1u);
  EXPECT_EQ(record->step.iteration, 2u);
  EXPECT_EQ(record->step.commit_seq, 3u);
  EXPECT_EQ(record->cause + '|' + record->name + '|' + record->text, "trigger|large|x.max > 1");
  EXPECT_EQ(record->actions, "freeze, reply:0.5");
}

TEST(PlainRecordTest, TheBeginningAndTheEndOfARun) {
  auto started = wire_message<wire::Record>(
      R"(run_started { run_id: "0123456789abcdef" solver: "heat" matrix: "rod" parameters: "c=1" })");
  describe(*started.mutable_run_started(), *mixed_layout());
  const auto begin = decode_record(started.SerializeAsString());
  ASSERT_TRUE(begin);
  EXPECT_EQ(begin->kind, RecordKind::kRunStarted);
  EXPECT_EQ(begin->solver + begin->problem + begin->parameters, "heatrodc=1");
  ASSERT_TRUE(begin->layout);
  EXPECT_EQ(begin->layout->hash(), mixed_layout()->hash());
  const auto ended = wire_message<wire::Record>(
      R"(run_ended { run_id: "0123456789abcdef" how: "producer_lost" exit_code: 4 text: "gone" })");
  const auto end = decode_record(ended.SerializeAsString());
  ASSERT_TRUE(end);
  EXPECT_EQ(end->kind, RecordKind::kRunEnded);
  EXPECT_EQ(end->how + end->text, "producer_lostgone");
  EXPECT_EQ(end->exit_code, 4u);
}

TEST(PlainRecordTest, FieldsOfALaterReleaseAreSkipped) {
  const std::string later = std::string("\xf2\x06\x03") + "abc";  // field 110, with three bytes
  EXPECT_EQ(decode_record(step_record().SerializeAsString() + later).value().kind, RecordKind::kStep);
  EXPECT_EQ(decode_record(later).value().kind, RecordKind::kNone);
}

/// If both decoders accept damaged bytes, their results are the same.
TEST(PlainRecordTest, OfDamagedRecordsNoMoreIsReadThanThereIs) {
  std::mt19937 random(1);
  int accepted = 0;
  for (const wire::Record& whole : {step_record(), described_record(), older_record()}) {
    const std::string bytes = whole.SerializeAsString();
    for (int i = 0; i < 20'000; ++i) {
      std::string damaged = bytes.substr(0, i % 3 == 0 ? random() % (bytes.size() + 1) : bytes.size());
      for (auto flips = random() % 3; flips > 0 && !damaged.empty(); --flips) {
        char& byte = damaged[random() % damaged.size()];
        byte = static_cast<char>(byte ^ (1 << random() % 8));
      }
      wire::Record message;
      const bool parsed = message.ParseFromString(damaged);
      const auto record = decode_record(damaged);
      if (!parsed) continue;  // it also refuses texts that are not UTF-8, and wire types that do not fit the field
      if (!record) continue;  // Protocol Buffers skips groups and messages with a wrong wire type
      ++accepted;
      if (!message.has_step() || record->kind != RecordKind::kStep) continue;
      EXPECT_EQ(record->seq, message.seq());
      (void)ResultNames().named(record->step.results, record->step.catalogue);
    }
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace ringside
