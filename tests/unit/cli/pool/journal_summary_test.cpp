// SPDX-License-Identifier: BSD-3-Clause
// What commands do with the journal: `replay` shows the journal beside the ring, `info` names the journal, and `wipe`
// removes it.
#include "cli/pool/journal_summary.hpp"

#include <memory>

#include "analyzer/pool/ring_pool.hpp"
#include "cli/subcommands.hpp"
#include "common/json/json.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/records/record_message.hpp"
#include "common/reductions/reduction_words.hpp"
#include "proto/ringside.pb.h"
#include "tests/unit/analyzer/journal/journal_fixture.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"
#include "tests/unit/expect_text.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kRows = 3000;
constexpr std::int64_t kBeganNs = 1'700'000'000'000'000'000;

class JournalSummaryTest : public JournalFixture {
 protected:
  /// Makes a pool of four slots in which iterations 1 to 6 were committed, and the records that a recorder would have
  /// made of these iterations.
  void SetUp() override {
    const RingPool pool = RingPool::create(pool_, RingShape::x_only(kRows), 4);
    RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kProcess);
    RunDescription run = run_of(kRows);
    run.started_realtime_ns = kBeganNs;
    begin_x_only(writer, run);
    Reducer reducer(kRows);
    std::vector<double> before;
    for (std::uint64_t k = 1; k <= 6; ++k) {
      commit_iterate(writer, k, kRows);
      std::vector<double> x = iterate(k, kRows);
      const Reductions& reductions = reducer.reduce(x.data(), before.empty() ? nullptr : before.data(), 1);
      store_reductions(writer, reductions);
      RecordedStep recorded;
      StepFigures& figures = recorded.figures;
      figures.run_id = run_of(kRows).run_id;
      figures.step = step_of(k).descriptor;
      figures.commit_seq = writer.committed();
      figures.transfer_ns = 2'345'678;
      figures.steps_committed = k;
      recorded.results = StepResults(layout_, values_of(reductions, step_of(k)));
      steps_.push_back(recorded);
      before = x;
    }
  }

  std::vector<std::uint64_t> values_of(const Reductions& reductions, const StepWithScalars& step) const {
    std::vector<std::uint64_t> results(kXOnlyWords);
    to_words(reductions, results);
    std::vector<std::uint64_t> values(layout_->words());
    layout_->gather(results, &step, values);
    return values;
  }

  /// Writes the journal. The description of the run comes last, as in a log whose beginning is lost.
  void write_journal() const {
    Journal journal = open();
    wire::Record record;
    for (const RecordedStep& step : steps_) {
      fill(*record.mutable_step(), step);
      append(journal, record);
    }
    *record.mutable_run_described() = describe_run(ringside::bytes_of(run_of(kRows).run_id), *layout_);
    append(journal, record);
  }

  struct Shown {
    int exit_code = 0;
    std::string out;
  };
  Shown command(int (*run)(int, const char* const*), std::vector<const char*> arguments) const {
    arguments.insert(arguments.begin(), {"ringside", pool_.c_str()});
    ::testing::internal::CaptureStdout();
    const int code = run(static_cast<int>(arguments.size()), arguments.data());
    return {code, ::testing::internal::GetCapturedStdout()};
  }
  /// Expects this exit code of the command, and these parts in its output.
  void expect_shown(int exit_code, int (*run)(int, const char* const*), const std::vector<std::string>& parts) const {
    const Shown shown = command(run, {});
    EXPECT_EQ(shown.exit_code, exit_code) << shown.out;
    expect_has(shown.out, parts);
  }
  static std::vector<Json> lines(const std::string& text) {
    std::vector<Json> objects;
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      objects.push_back(Json::parse(text.substr(at, text.find('\n', at) - at)));
    }
    return objects;
  }

  const SharedLayout layout_ = std::make_shared<const RecordLayout>(Schema::x_only(kRows), x_only_catalogue(kRows));
  std::vector<RecordedStep> steps_;
};

TEST_F(JournalSummaryTest, WithoutAJournalReplaySaysNothingOfOne) {
  const Shown shown = command(replay_command, {"--json"});
  EXPECT_EQ(shown.exit_code, 0) << shown.out;
  expect_lacks(shown.out, {"journal"});
  expect_lacks(command(replay_command, {}).out, {"journal"});
  EXPECT_TRUE(Json::parse(command(info_command, {"--json"}).out)["journal"].is_null());
}

TEST_F(JournalSummaryTest, WhatTheJournalRecordedStandsBesideTheRing) {
  write_journal();
  const Shown shown = command(replay_command, {"--json"});
  EXPECT_EQ(shown.exit_code, 0) << shown.out;
  const std::vector<Json> objects = lines(shown.out);
  ASSERT_EQ(objects.size(), 5u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(objects[i]["iteration"], i + 3);
    EXPECT_EQ(objects[i]["journal"]["transfer_ns"], 2'345'678);
    EXPECT_EQ(objects[i]["journal"]["steps_committed"], i + 3);
    EXPECT_TRUE(objects[i]["journal"]["agrees"].get<bool>());
  }
  const Json& journal = objects[4]["journal"];
  EXPECT_EQ(journal["records"], 7);
  EXPECT_EQ(journal["differs"], 0);
  EXPECT_EQ(journal["not_in_journal"], 0);
  EXPECT_EQ(journal["outside_ring"], (Json{{"steps", 2}, {"first_iteration", 1}, {"last_iteration", 2}}));

  const std::string verdict = "4 iterates: 4 equal to what was recorded\n";
  expect_shown(0, replay_command, {"2.346", "steps that the ring no longer keeps: 2, iterations 1 to 2", verdict});
  EXPECT_TRUE(command(replay_command, {}).out.ends_with(verdict));
}

TEST_F(JournalSummaryTest, AScalarThatDiffersInItsLastBitIsADifference) {
  std::vector<std::uint64_t> values(steps_[4].results.words().begin(), steps_[4].results.words().end());
  values[layout_->find("x.l2")->word] ^= 1;
  steps_[4].results = StepResults(layout_, values);
  write_journal();
  const Shown shown = command(replay_command, {"--json"});
  EXPECT_EQ(shown.exit_code, 5);
  const std::vector<Json> objects = lines(shown.out);
  EXPECT_FALSE(objects[2]["journal"]["agrees"].get<bool>());
  EXPECT_EQ(objects[2]["journal"]["differences"][0]["field"], "x.l2");
  EXPECT_EQ(objects[2]["verdict"], "equal") << "the ring agrees with itself";
  EXPECT_EQ(objects[4]["journal"]["differs"], 1);
  EXPECT_FALSE(objects[4]["intact"].get<bool>());
  expect_shown(5, replay_command, {"DIFFERS from the ring:"});
}

TEST_F(JournalSummaryTest, AStepTheJournalLacksIsNamedAndIsNoDamage) {
  steps_.erase(steps_.begin() + 3);
  write_journal();
  expect_shown(0, replay_command, {"4  not in the journal\n"});
}

TEST_F(JournalSummaryTest, DamageOfTheJournalIsReported) {
  write_journal();
  flip(log(0), 100);
  expect_shown(5, replay_command, {"journal: DAMAGED: " + log(0) + ": byte 64: "});
  expect_shown(0, info_command, {"DAMAGED"});
}

TEST_F(JournalSummaryTest, AStepRebuiltBeforeItWasReducedIsComparedWithNothing) {
  steps_[5].figures.rebuilt = true;
  std::vector<std::uint64_t> absent(layout_->words());
  layout_->gather({}, nullptr, absent);
  steps_[5].results = StepResults(layout_, absent);
  write_journal();
  expect_shown(0, replay_command, {"rebuilt from the ring"});
}

TEST_F(JournalSummaryTest, AFileThatIsNoJournalInItsPlaceIsReportedAndTheRingReplayed) {
  write(log(0), std::string(100, 'x'));
  expect_shown(5, replay_command, {"not a Ringside journal", "4 iterates: 4 equal"});
}

TEST_F(JournalSummaryTest, InfoNamesTheJournal) {
  write_journal();
  const Json journal = Json::parse(command(info_command, {"--json"}).out)["journal"];
  EXPECT_EQ(journal["kind"], "file");
  EXPECT_EQ(journal["records"], 7);
  EXPECT_EQ(journal["oldest_seq"], 1);
  EXPECT_EQ(journal["newest_seq"], 7);
  expect_has(command(info_command, {}).out, {"7 records, 1 to 7"});
}

TEST_F(JournalSummaryTest, InfoAndReplayCountTheStepsThatAreNamedAsMissing) {
  write_journal();
  {
    Journal journal = open();
    wire::Record record;
    fill(*record.mutable_records_missing(), MissingSteps{.run_id = steps_.back().figures.run_id,
                                                         .first_step = 6,
                                                         .steps = 392,
                                                         .first_commit_seq = 7,
                                                         .first_iteration = 7,
                                                         .last_iteration = 398});
    append(journal, record);
    // One of the missing steps is later recorded from the ring.
    RecordedStep found = steps_.back();
    found.figures.commit_seq = 398;
    found.figures.step.iteration = 398;
    fill(*record.mutable_step(), found);
    append(journal, record);
  }
  EXPECT_EQ(Json::parse(command(info_command, {"--json"}).out)["journal"]["records_missing"], 391);
  EXPECT_EQ(lines(command(replay_command, {"--json"}).out).back()["journal"]["records_missing"], 391);
  const std::string text = "391 committed steps have no record, iterations 7 to 398";
  expect_has(command(info_command, {}).out, {text});
  expect_has(command(replay_command, {}).out, {text});
}

TEST_F(JournalSummaryTest, WhoseAJournalIsFollowsFromItsRunsItsPoolAndItsTime) {
  const auto identity_of = [&](const Id128& run, std::int64_t unix_ns, const std::string& pool_id) {
    wire::Record record;
    record.set_unix_ns(unix_ns);
    record.mutable_run_started()->set_run_id(ringside::bytes_of(run));
    record.mutable_run_started()->set_pool_id(pool_id);
    NamedByJournal named;
    named.add(record);
    return identify(named, pool_);
  };
  const auto has_no_scalars = [](const JournalIdentity& said) { return said.foreign.empty() && said.older.empty(); };
  const Id128 ours = run_of(kRows).run_id;
  const Id128 other{ours.high, ours.low + 1};
  const std::string id = ringside::bytes_of(RingReader::open(pool_).ring().geometry().pool_id);
  EXPECT_TRUE(has_no_scalars(identity_of(ours, kBeganNs + 1, "")));
  EXPECT_TRUE(has_no_scalars(identity_of(other, kBeganNs + 1, id)));
  EXPECT_TRUE(has_no_scalars(identity_of(other, kBeganNs - 1, id)));
  for (const std::string& unknown : {std::string(), std::string(16, 'x')}) {
    const JournalIdentity later = identity_of(other, kBeganNs, unknown);
    expect_has(later.foreign, {"does not belong to this pool"});
    EXPECT_EQ(later.older, "");
    const JournalIdentity earlier = identity_of(other, kBeganNs - 1, unknown);
    EXPECT_EQ(earlier.foreign, "");
    expect_has(earlier.older, {"older than all of them"});
  }
}

TEST_F(JournalSummaryTest, WipeTakesTheJournalToo) {
  write_journal();
  const Shown shown = command(wipe_command, {"--yes"});
  EXPECT_EQ(shown.exit_code, 0);
  expect_has(shown.out, {"its journal was wiped, too"});
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(JournalSummaryTest, WipeKeepsThePoolWhileItsJournalIsWritten) {
  write_journal();
  const Journal journal = open();
  EXPECT_NE(failure_line([&] { command(wipe_command, {"--yes"}); }, ExitCode::kSystem), "");
  ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(std::filesystem::exists(pool_));
}

}  // namespace
}  // namespace ringside
