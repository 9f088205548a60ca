// SPDX-License-Identifier: BSD-3-Clause
// The records that are missing in a journal when a run attaches. Over all lives of killed analyzers, each committed
// step must be recorded once, or recorded once as missing.
#include <algorithm>
#include <random>

#include "analyzer/journal/journal_rebuild.hpp"
#include "common/records/record_message.hpp"
#include "tests/unit/analyzer/journal/journal_fixture.hpp"

namespace ringside {
namespace {

constexpr Id128 kRun{3, 4};

/// A run's commits, the commits that the ring keeps (the window), and the run's journal: everything that outlives an
/// analyzer.
class CatchUpTest : public JournalFixture {
 protected:
  static constexpr std::size_t kSlots = 4;

  /// Commits a step of this attachment. recorded: whether the step is recorded before the analyzer's life ends.
  void commit(bool recorded) {
    RecordedStep recorded_step;
    StepFigures& step = recorded_step.figures;
    step.run_id = run_;
    step.commit_seq = ++newest_;
    step.step.step = step_++;
    step.step.iteration = iteration_ += every_;
    if (window_.size() == kSlots) {
      window_.erase(std::find_if(window_.begin(), window_.end(),
                                 [&](const RecordedStep& one) { return one.figures.commit_seq != held_; }));
    }
    window_.push_back(recorded_step);
    window_.back().figures.rebuilt = true;
    if (!recorded) return;
    wire::Record record;
    fill(*record.mutable_step(), recorded_step);
    write(record);
  }
  void commit(int steps, bool recorded) {
    for (int i = 0; i < steps; ++i) commit(recorded);
  }

  /// Begins a run with `recorded` steps that have a record, followed by `lacking` steps that have none.
  void begin(int recorded, int lacking) {
    resume();
    commit(recorded, true);
    commit(lacking, false);
  }

  /// Lets a new producer continue the run. written: the number of catch-up records that are written before the next
  /// kill.
  CatchUp resume(std::size_t written = 1000) {
    step_ = 0;
    return take_in(written);
  }

  CatchUp take_in(std::size_t written = 1000) {
    wire::Record begun;
    wire::RunStarted& started = *begun.mutable_run_started();
    started.set_run_id(ringside::bytes_of(run_));
    started.set_from_step(step_);
    started.set_from_iteration(step_ == 0 ? iteration_ : 0);
    started.set_first_commit_seq(newest_ + 1);
    CatchUp lacking = catch_up(pool_, window_, started, iteration_);
    for (const auto& what : lacking) {
      wire::Record record;
      if (const auto* missing = std::get_if<MissingSteps>(&what)) fill(*record.mutable_records_missing(), *missing);
      if (const auto* step = std::get_if<RecordedStep>(&what)) fill(*record.mutable_step(), *step);
      if (written-- == 0) return lacking;
      write(record);
    }
    if (written > 0) write(begun);
    return lacking;
  }

  /// Commits and records 8000 steps, so that the journal no longer has the first records.
  void rotate() {
    Journal journal = open();
    wire::Record record;
    for (int i = 0; i < 8000; ++i) {
      commit(false);
      fill(*record.mutable_step(), window_.back());
      append(journal, record);
    }
    ASSERT_GT(reader().oldest_seq(), 1u);
  }

  void write(wire::Record& record) const {
    Journal journal = open();
    append(journal, record);
  }

  /// For each commit of the run, from 1 on: the number of times that it has a record or is recorded as missing.
  std::vector<int> times_recorded() const {
    std::vector<int> times(newest_, 0);
    JournalReader journal = reader();
    wire::Record record;
    while (const auto encoded = journal.next(0)) {
      EXPECT_TRUE(record.ParseFromArray(encoded->bytes.data(), static_cast<int>(encoded->bytes.size())));
      const wire::StepRecord& step = record.step();
      if (record.has_step() && step.run_id() == ringside::bytes_of(run_)) ++times.at(step.commit_seq() - 1);
      const wire::RecordsMissing& missing = record.records_missing();
      for (std::uint64_t i = 0; i < missing.steps(); ++i) ++times.at(missing.first_commit_seq() - 1 + i);
    }
    return times;
  }

  static std::vector<MissingSteps> missing_in(const CatchUp& lacking) {
    std::vector<MissingSteps> all;
    for (const auto& what : lacking) {
      if (const auto* missing = std::get_if<MissingSteps>(&what)) all.push_back(*missing);
    }
    return all;
  }

  /// Expects that one gap is recorded as missing, and returns it.
  static MissingSteps expect_one_gap(const CatchUp& lacking, std::uint64_t first_commit_seq, std::uint64_t steps) {
    const std::vector<MissingSteps> missing = missing_in(lacking);
    EXPECT_EQ(missing.size(), 1u);
    if (missing.empty()) return {};
    EXPECT_EQ(missing[0].first_commit_seq, first_commit_seq);
    EXPECT_EQ(missing[0].steps, steps);
    return missing[0];
  }

  void expect_each_recorded_once() const { EXPECT_EQ(times_recorded(), std::vector<int>(newest_, 1)); }

  Id128 run_ = kRun;
  std::vector<RecordedStep> window_;  // the steps that the ring keeps
  std::uint64_t held_ = 0;            // commit_seq of a step that a reader holds, so that it remains in the window
  std::uint64_t newest_ = 0;          // commit_seq
  std::uint64_t step_ = 0;
  std::uint64_t iteration_ = 0;
  std::uint64_t every_ = 1;
};

TEST_F(CatchUpTest, ARunThatIsResumedNamesWhatTheRingHasOverwrittenSinceTheLastRecord) {
  begin(10, 20);
  const CatchUp lacking = resume();
  const MissingSteps missing = expect_one_gap(lacking, 11, 16);
  EXPECT_EQ(missing.run_id, kRun);
  EXPECT_EQ(missing.first_step, 10u);
  EXPECT_EQ(missing.first_iteration, 11u);
  EXPECT_EQ(missing.last_iteration, 26u);
  EXPECT_EQ(lacking.size(), 1 + kSlots);
  commit(5, true);
  expect_each_recorded_once();
}

TEST_F(CatchUpTest, AnAnalyzerThatTakesOverNamesWhatTheRingHasOverwritten) {
  begin(10, 20);
  EXPECT_EQ(expect_one_gap(take_in(), 11, 16).first_step, 10u);
  expect_each_recorded_once();
}

TEST_F(CatchUpTest, WhatTheRingStillKeepsIsRecordedAndNothingIsNamed) {
  begin(10, 4);
  EXPECT_TRUE(missing_in(resume()).empty());
  expect_each_recorded_once();
}

TEST_F(CatchUpTest, LivesThatEndedBeforeTheyRecordedAnythingAreNamedByTheNextOne) {
  resume();
  commit(10, true);
  for (int life = 0; life < 3; ++life) {
    resume(0);
    commit(9, false);
  }
  const MissingSteps missing = expect_one_gap(resume(), 11, 23);
  EXPECT_EQ(missing.first_iteration, 11u);
  EXPECT_EQ(missing.last_iteration, 33u);
  expect_each_recorded_once();
}

TEST_F(CatchUpTest, ALifeThatEndsWithinItsCatchUpIsCompletedByTheNextOne) {
  for (std::size_t written = 0; written < 7; ++written) {
    begin(3, 9);
    resume(written);
    commit(9, false);
  }
  resume();
  expect_each_recorded_once();
}

TEST_F(CatchUpTest, StepsAreCountedWhereNotEachIterationIsPublished) {
  every_ = 10;
  begin(10, 20);
  const MissingSteps missing = expect_one_gap(resume(), 11, 16);
  EXPECT_EQ(missing.first_iteration, 101u);
  EXPECT_EQ(missing.last_iteration, 269u);
  expect_each_recorded_once();
}

TEST_F(CatchUpTest, StepsThatTheProducerSkippedAreNoGap) {
  resume();
  for (int i = 0; i < 10; ++i) {
    iteration_ += 3;
    commit(true);
  }
  commit(2, false);
  EXPECT_TRUE(missing_in(resume()).empty());
  expect_each_recorded_once();
}

TEST_F(CatchUpTest, AJournalThatDoesNotKnowTheRunNamesAllThatTheRingDoesNotKeep) {
  commit(30, false);
  EXPECT_EQ(expect_one_gap(resume(), 1, 26).first_step, 0u);
  expect_each_recorded_once();
}

TEST_F(CatchUpTest, ARunAfterAnotherInOnePoolDoesNotCountTheOthersCommits) {
  newest_ = 500;  // the newest commit of the other run
  resume();
  commit(1, false);
  EXPECT_TRUE(missing_in(resume()).empty());
  window_.clear();
  run_ = {7, 8};
  iteration_ = 0;
  commit(6, false);
  expect_one_gap(resume(), 502, 2);
}

TEST_F(CatchUpTest, ASlotThatIsDamagedIsNamedWhereverItIsInTheWindow) {
  begin(10, 4);
  window_.erase(window_.begin() + 1);
  window_.pop_back();
  const std::vector<MissingSteps> missing = missing_in(resume());
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0].first_commit_seq, 12u);
  EXPECT_EQ(missing[1].first_commit_seq, 14u);
  expect_each_recorded_once();
}

TEST_F(CatchUpTest, ARunThatIsTakenOverWithoutItsRingNamesTheIterations) {
  begin(10, 14);
  window_.clear();  // the journal of the whole run of several nodes has no ring
  const MissingSteps missing = expect_one_gap(take_in(0), 0, 14);
  EXPECT_EQ(missing.first_step, 10u);
  EXPECT_EQ(missing.first_iteration, 11u);
  EXPECT_EQ(missing.last_iteration, 24u);
}

TEST_F(CatchUpTest, WithoutItsRingNoIterationIsNamedThatCannotBeRight) {
  begin(10, 14);
  window_.clear();
  iteration_ = 12;  // the last iteration of a ring that was frozen
  EXPECT_EQ(expect_one_gap(take_in(0), 0, 14).first_iteration, 0u);
}

TEST_F(CatchUpTest, ARunThatIsLetGoIsRecordedBeforeTheNextOne) {
  begin(10, 20);
  wire::RunStarted other;
  other.set_run_id(ringside::bytes_of(Id128{7, 8}));
  other.set_first_commit_seq(newest_ + 1);
  const CatchUp lacking = catch_up(pool_, window_, other, 0);
  EXPECT_EQ(expect_one_gap(lacking, 11, 16).run_id, kRun);
  EXPECT_EQ(lacking.size(), 1 + kSlots);
}

TEST_F(CatchUpTest, AGapBehindAHeldSlotIsNotAMissingRecord) {
  resume();
  commit(5, true);
  held_ = 4;
  commit(20, true);
  ASSERT_EQ(window_.front().figures.commit_seq, 4u);
  EXPECT_TRUE(resume().empty());
  commit(7, false);  // the ring keeps three of them
  expect_one_gap(resume(), 26, 4);
  expect_each_recorded_once();
}

TEST_F(CatchUpTest, AHeldStepIsNotRecordedAgainWhenRotationTookItsRecord) {
  resume();
  commit(2, true);
  held_ = 2;
  rotate();
  EXPECT_TRUE(resume().empty());
}

TEST_F(CatchUpTest, WhatRotationTookIsNotMissing) {
  resume();
  rotate();

  commit(20, false);
  expect_one_gap(resume(), 8001, 16);
}

TEST_F(CatchUpTest, AfterManyLivesOfAnyLengthEachCommitIsToldOnce) {
  std::mt19937_64 random(1);
  const auto up_to = [&random](int n) { return std::uniform_int_distribution<int>(0, n)(random); };
  for (int life = 0; life < 60; ++life) {
    const bool off = up_to(5) == 0;
    const bool cut_short = up_to(3) == 0;
    const bool new_producer = up_to(2) > 0;
    if (new_producer) step_ = 0;
    if (!off) take_in(cut_short ? static_cast<std::size_t>(up_to(6)) : 1000);
    if (!off && !cut_short) commit(up_to(3), true);
    commit(up_to(12), false);
  }
  resume();
  expect_each_recorded_once();
}

}  // namespace
}  // namespace ringside
