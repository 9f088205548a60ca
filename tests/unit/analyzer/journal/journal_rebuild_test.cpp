// SPDX-License-Identifier: BSD-3-Clause
// Records that a journal lost and that can be rebuilt from the ring, and the conversion of a step's figures to a record
// and back.
#include "analyzer/journal/journal_rebuild.hpp"

#include <memory>
#include <set>

#include "analyzer/ring/kept_results.hpp"
#include "common/records/record_layout.hpp"
#include "common/records/record_message.hpp"
#include "proto/ringside.pb.h"
#include "tests/unit/analyzer/journal/journal_fixture.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"
#include "tests/unit/analyzer/ring/several_variables.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kRebuiltRows = 1000;

class JournalRebuildTest : public JournalFixture {
 protected:
  /// A ring of four slots that has taken iterations 1 to 6.
  JournalRebuildTest() : memory_(kRebuiltRows, 4) {
    RingWriter writer(memory_.ring(), memory_.persistence, Storage::kDax, Durability::kProcess);
    begin_x_only(writer, run_of(kRebuiltRows));
    for (std::uint64_t k = 1; k <= 6; ++k) {
      commit_iterate(writer, k, kRebuiltRows);
      Reductions reductions;
      reductions.l1 = static_cast<double>(k) / 3;
      if (k != 5) store_reductions(writer, reductions);
    }
  }

  CatchUp lacking() { return catch_up(pool_, kept_steps(memory_.ring()), started_, 0); }

  /// The steps that are missing in the journal and are recorded again.
  std::vector<RecordedStep> missing() {
    std::vector<RecordedStep> steps;
    for (const auto& what : lacking()) {
      if (const auto* step = std::get_if<RecordedStep>(&what)) steps.push_back(*step);
    }
    return steps;
  }

  void write_journal(const std::vector<RecordedStep>& steps) const {
    Journal journal = open();
    wire::Record record;
    for (const RecordedStep& step : steps) {
      fill(*record.mutable_step(), step);
      append(journal, record);
    }
  }

  static std::vector<std::uint64_t> iterations(const std::vector<RecordedStep>& steps) {
    std::vector<std::uint64_t> all;
    for (const RecordedStep& known : steps) all.push_back(known.figures.step.iteration);
    return all;
  }

  RingInMemory memory_;
  wire::RunStarted started_;
};

TEST_F(JournalRebuildTest, WithoutAJournalTheWholeWindowOfTheRingIsMissing) {
  const std::vector<RecordedStep> found = missing();
  ASSERT_EQ(iterations(found), from_to(3, 6));
  for (const RecordedStep& recorded : found) {
    const StepFigures& known = recorded.figures;
    const std::uint64_t k = known.step.iteration;
    EXPECT_TRUE(known.rebuilt);
    EXPECT_EQ(known.run_id, run_of(kRebuiltRows).run_id);
    EXPECT_EQ(known.step.step, k - 1);
    EXPECT_EQ(recorded.results.find("solver.residual_l1").f64(), step_of(k).descriptor.residual_l1)
        << "what the producer said lies in the slot";
    EXPECT_EQ(known.step.generate_ns, 1000);
    EXPECT_EQ(known.bytes_transferred, kRebuiltRows * sizeof(double));
    EXPECT_EQ(recorded.results.find("x.l1").present, k != 5);
    EXPECT_EQ(recorded.results.find("x.l1").f64(), k == 5 ? 0 : static_cast<double>(k) / 3);
    EXPECT_EQ(known.transfer_ns, 0) << "the ring does not know";
  }
}

TEST_F(JournalRebuildTest, OnlyWhatTheJournalDoesNotNameIsMissing) {
  std::vector<RecordedStep> steps = missing();
  steps.erase(steps.begin() + 2);
  write_journal(steps);
  EXPECT_EQ(iterations(missing()), from_to(5, 5));
}

TEST_F(JournalRebuildTest, OnceItIsWrittenNothingIsMissing) {
  write_journal(missing());
  EXPECT_TRUE(missing().empty());
}

TEST_F(JournalRebuildTest, ARecordDamagedInTheJournalIsMissing) {
  write_journal(missing());
  flip(log(0), std::filesystem::file_size(log(0)) - 20);
  EXPECT_EQ(iterations(missing()), from_to(6, 6));
}

TEST_F(JournalRebuildTest, RecordsThatAreNoMessagesNameNothing) {
  append_and_close(5);
  EXPECT_EQ(missing().size(), 4u);
}

TEST_F(JournalRebuildTest, ASlotWhoseStepDoesNotVerifyKeepsWhatItsHeaderSays) {
  const KeptSlot newest = recover(memory_.ring()).kept.back();
  memory_.flip_bit(memory_.geometry().slots[newest.slot].meta_offset + kStepOffset + 17);
  const std::vector<RecordedStep> found = missing();
  EXPECT_EQ(found.back().figures.step.iteration, 6u);
  EXPECT_EQ(found.back().figures.step.step, 5u);
  EXPECT_FALSE(found.back().results.find("solver.residual_l1").present);
  EXPECT_TRUE(found.back().results.find("x.l1").present);
}

TEST(KeptStepsTest, AStepOfSeveralVariablesHasItsResultsAndScalarsByName) {
  VariablesRing ring(several_variables());
  for (std::uint64_t k = 1; k <= 3; ++k) {
    const std::vector<std::uint64_t> words = ring.commit(k);
    if (k != 3) ring.writer.store_results(words);
  }
  const std::vector<RecordedStep> kept = kept_steps(ring.memory.ring());
  ASSERT_EQ(kept.size(), 3u);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::uint64_t k = i + 1;
    const StepResults& results = kept[i].results;
    ASSERT_TRUE(results.layout());
    for (const char* name : {"u.l2", "v.mean", "w.sum"}) EXPECT_EQ(results.find(name).present, k != 3) << name;
    EXPECT_EQ(results.find("w.sum").type, ValueType::kI128);
    EXPECT_EQ(results.find("w.change_l1").present, k == 2);
    EXPECT_EQ(results.find("solver.rho").f64(), static_cast<double>(k) + 0.25);
    EXPECT_EQ(results.find("solver.inner").i64(), static_cast<std::int64_t>(100 + k));
    EXPECT_FALSE(results.find("r.l2").present) << "a state";
  }
  ASSERT_EQ(described_runs(ring.memory.ring()).size(), 1u);
  EXPECT_EQ(described_runs(ring.memory.ring())[0].layout->hash(), kept[0].results.layout()->hash());
}

TEST(StepRecordTest, FiguresComeBackAsTheyWent) {
  StepFigures figures;
  figures.run_id = {0x0102030405060708, 0x090a0b0c0d0e0f10};
  figures.step = {
      .step = 1, .iteration = 2, .generate_ns = 3, .producer_idle_ns = 4, .published_at_ns = 5, .skipped_before = 6};
  figures.commit_seq = 7;
  figures.analyzer_idle_ns = 8;
  figures.record_ns = 15;
  figures.hand_off_ns = 9;
  figures.transfer_ns = 10;
  figures.commit_ns = 11;
  figures.analyze_ns = 12;
  figures.bytes_transferred = 13;
  figures.steps_committed = 14;
  figures.steps_persisted = 15;
  figures.rebuilt = true;
  figures.broke_lease = true;
  figures.guarded_commit_seq = 419;
  const auto layout =
      std::make_shared<const RecordLayout>(Schema::x_only(kRebuiltRows), x_only_catalogue(kRebuiltRows));
  std::vector<std::uint64_t> values(layout->words());
  for (std::size_t i = 1; i < values.size(); ++i) values[i] = i;
  values[0] = 2;  // the second value is absent
  values[2] = 0;
  wire::StepRecord record;
  fill(record, figures, *layout, values);
  EXPECT_EQ(record.run_id(), std::string("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10", 16));
  wire::StepRecord parsed;
  ASSERT_TRUE(parsed.ParseFromString(record.SerializeAsString()));
  ResultNames names;
  names.learn(layout);
  const std::optional<RecordedStep> back = step_of(parsed, names);
  ASSERT_TRUE(back);
  wire::StepRecord again;
  fill(again, *back);
  EXPECT_EQ(again.SerializeAsString(), record.SerializeAsString());
  EXPECT_EQ(back->figures.run_id, figures.run_id);
  EXPECT_EQ(back->figures.step.skipped_before, 6u);
  EXPECT_FALSE(back->results.find("x.mean").present);
  EXPECT_TRUE(back->results.find("x.sum").present);
  const google::protobuf::Descriptor& shape = *wire::StepRecord::descriptor();
  const std::set<std::string> before_names = {"residual_l1", "residual_linf", "reductions"};
  for (int i = 0; i < shape.field_count(); ++i) {
    EXPECT_EQ(record.GetReflection()->HasField(record, shape.field(i)), !before_names.contains(shape.field(i)->name()))
        << shape.field(i)->name();
  }
}

TEST(StepRecordTest, AnIdIsSixteenBytes) {
  EXPECT_FALSE(id_of("short"));
  EXPECT_EQ(id_of(bytes_of(Id128{1, 2})), (Id128{1, 2}));
}

}  // namespace
}  // namespace ringside
