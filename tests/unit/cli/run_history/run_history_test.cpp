// SPDX-License-Identifier: BSD-3-Clause
// The history of a run whose records are added one by one: sums over all records, and a series whose size is limited.
#include "cli/run_history/run_history.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "cli/run_history/history_json.hpp"
#include "tests/unit/wire_text.hpp"
#include "tests/watch/made_run.hpp"

namespace ringside {
namespace {

using testing::MadeRun;

SeriesPoint point_of(const wire::Record& record) {
  return ringside::point_of(record, ResultNames().results(record.step()));
}

RunHistory history_of(const std::vector<wire::Record>& records) {
  RunHistory history;
  for (const wire::Record& record : records) history.add(record);
  return history;
}

/// The status of an analyzer that serves the run which this record begins.
wire::Status status_of(const wire::Record& started) {
  wire::Status status;
  *status.mutable_run() = started.run_started();
  return status;
}

class RunHistoryTest : public ::testing::Test {
 protected:
  MadeRun made_;
};
using StepSeriesTest = RunHistoryTest;
using HistoryJsonTest = RunHistoryTest;
using RunMarksTest = RunHistoryTest;
using AnalysisSeriesTest = RunHistoryTest;

TEST_F(StepSeriesTest, TheNewestStepsStaySingleAndNothingOlderIsLost) {
  StepSeries series(10, 4);
  constexpr std::uint64_t kSteps = 1000;
  std::int64_t generate_ns = 0;
  for (const wire::Record& record : made_.steps(kSteps)) {
    series.add(point_of(record));
    generate_ns += record.step().generate_ns();
  }
  const std::vector<SeriesPoint> points = series.from(0, kSteps);
  EXPECT_LE(points.size(), 14u);
  std::uint64_t next = 1;
  std::uint64_t steps = 0;
  for (const SeriesPoint& point : points) {
    EXPECT_EQ(point.first_seq, next);
    next = point.seq + 1;
    steps += point.steps;
    generate_ns -= point.generate_ns;
  }
  EXPECT_EQ(steps, kSteps);
  EXPECT_EQ(generate_ns, 0);
  for (std::size_t i = points.size() - 10; i < points.size(); ++i) EXPECT_EQ(points[i].steps, 1u);
}

TEST_F(StepSeriesTest, AGroupShowsItsLastStep) {
  StepSeries series(1, 1);
  const std::vector<wire::Record> records = made_.steps(5);
  for (const wire::Record& record : records) series.add(point_of(record));
  const SeriesPoint group = series.from(0, 1).front();
  const wire::StepRecord& last = records[group.seq - 1].step();
  EXPECT_GT(group.steps, 1u);
  EXPECT_EQ(group.iteration, last.iteration());
  EXPECT_EQ(group.shown.residual_l1, last.residual_l1());
  EXPECT_EQ(group.shown.reductions->change_l1, last.reductions().change_l1());
  EXPECT_EQ(value_of(group, "x.change_l1"), last.reductions().change_l1());
}

TEST_F(StepSeriesTest, FromBeginsWithThePointThatHoldsTheNumber) {
  StepSeries series(4, 100);
  for (const wire::Record& record : made_.steps(10)) series.add(point_of(record));
  EXPECT_EQ(series.from(7, 100).front().seq, 7u);
  EXPECT_EQ(series.from(7, 2).size(), 2u);
  EXPECT_TRUE(series.from(11, 100).empty());
}

TEST_F(RunHistoryTest, SumsAreThoseOfTheRecords) {
  std::vector<wire::Record> records = {made_.started()};
  for (wire::Record& record : made_.steps(50)) records.push_back(record);
  for (const std::size_t k : {7u, 20u}) records[k].mutable_step()->set_broke_lease(true);
  const RunHistory history = history_of(records);
  const RunView& run = *history.run();
  StepSums expected;
  for (const wire::Record& record : records) {
    expected.generate_ns += record.step().generate_ns();
    expected.producer_idle_ns += record.step().producer_idle_ns();
    expected.bytes_transferred += record.step().bytes_transferred();
  }
  EXPECT_EQ(run.sums.steps, 50u);
  EXPECT_EQ(run.sums.generate_ns, expected.generate_ns);
  EXPECT_EQ(run.sums.producer_idle_ns, expected.producer_idle_ns);
  EXPECT_EQ(run.sums.bytes_transferred, expected.bytes_transferred);
  EXPECT_EQ(run.sums.leases_broken, 2u);
  EXPECT_EQ(run.last.steps_committed(), 50u);
  EXPECT_EQ(run.steps_persisted, 48u);
  EXPECT_EQ(run.hand_off.count(), 50u);
  EXPECT_EQ(run.hand_off.max(), 1'990u);
  EXPECT_FALSE(run.ended);
}

TEST_F(RunHistoryTest, AnotherRunBeginsAtZero) {
  MadeRun first;
  RunHistory history = history_of({first.started(), first.step(), first.step(), first.ended()});
  EXPECT_TRUE(history.run()->ended);
  MadeRun second("another-run-0123", first.next_seq());
  history.add(second.started());
  EXPECT_EQ(history.run()->run_id, "another-run-0123");
  EXPECT_EQ(history.run()->sums.steps, 0u);
  EXPECT_EQ(history.run()->series.size(), 0u);
  EXPECT_FALSE(history.run()->ended);
}

TEST_F(RunHistoryTest, ARunThatContinuesUnderAnotherAnalyzerGoesOn) {
  RunHistory history = history_of({made_.started(), made_.step(), made_.step()});
  history.add(made_.ended("", 4));
  history.add(made_.started());
  history.add(made_.step());
  EXPECT_EQ(history.run()->sums.steps, 3u);
  EXPECT_FALSE(history.run()->ended);
}

TEST_F(RunHistoryTest, AStepThatComesAgainUnderAnotherNumberIsCountedOnce) {
  RunHistory history = history_of({made_.started(), made_.step(), made_.step(), made_.step()});
  const std::int64_t generate_ns = history.run()->sums.generate_ns;
  MadeRun again;  // a new numbering, because no journal kept the earlier records
  history.add(again.started());
  history.add(again.step());
  history.add(again.step());
  EXPECT_EQ(history.run()->sums.steps, 3u);
  EXPECT_EQ(history.run()->sums.generate_ns, generate_ns);
  EXPECT_EQ(history.run()->last.step(), 2u);
  EXPECT_EQ(history.run()->series.from(0, 10).size(), 2u);
}

TEST_F(RunHistoryTest, WhatAnalyzersMeasuredOfARebuiltStepIsNotCountedAsZero) {
  wire::Record rebuilt = made_.step();
  rebuilt.mutable_step()->set_rebuilt(true);
  rebuilt.mutable_step()->set_hand_off_ns(0);
  rebuilt.mutable_step()->set_steps_committed(0);
  const RunHistory history = history_of({rebuilt, made_.step()});
  EXPECT_EQ(history.run()->hand_off.count(), 1u);
  EXPECT_EQ(history.run()->sums.rebuilt, 1u);
  EXPECT_EQ(history.run()->sums.records_missing, 0u);
  EXPECT_EQ(history_of({rebuilt}).run()->last.steps_committed(), 1u);
}

/// first: the first missing commit; 0: the record does not name the commits.
wire::Record missing_commits(const std::string& run_id, std::uint64_t first, std::uint64_t steps) {
  wire::Record record;
  record.mutable_records_missing()->set_run_id(run_id);
  record.mutable_records_missing()->set_first_commit_seq(first);
  record.mutable_records_missing()->set_steps(steps);
  return record;
}

TEST_F(RunHistoryTest, StepsOfWhichNoRecordCameAreCountedToldOrNot) {
  RunHistory history = history_of({made_.started(), made_.step()});
  (void)made_.steps(7);
  history.add(missing_commits(history.run()->run_id, 0, 5));
  EXPECT_EQ(history.run()->sums.records_missing, 5u);
  history.add(made_.step());
  EXPECT_EQ(history.run()->sums.steps, 2u);
  EXPECT_EQ(history.run()->sums.records_missing, 7u);
}

wire::Record step_of_another_life(wire::Record record, std::uint64_t step) {
  record.mutable_step()->set_step(step);
  return record;
}

TEST_F(RunHistoryTest, StepsLostBetweenTwoLivesOfARunAreCountedAlthoughStepsBeginAtZero) {
  RunHistory history = history_of({made_.started(), made_.step()});
  (void)made_.steps(7);
  history.add(made_.started());
  history.add(step_of_another_life(made_.step(), 0));
  EXPECT_EQ(history.run()->sums.steps, 2u);
  EXPECT_EQ(history.run()->sums.records_missing, 7u);
}

TEST_F(RunHistoryTest, AStepThatWasNamedAsMissingAndIsRecordedAfterAllIsNotMissing) {
  RunHistory history = history_of({made_.started(), made_.step()});
  const std::vector<wire::Record> lost = made_.steps(5);
  history.add(missing_commits(history.run()->run_id, 2, 5));
  EXPECT_EQ(history.run()->sums.records_missing, 5u);
  history.add(lost[2]);
  EXPECT_EQ(history.run()->sums.records_missing, 4u);
  history.add(made_.step());
  EXPECT_EQ(history.run()->sums.steps, 3u);
  EXPECT_EQ(history.run()->sums.records_missing, 4u);
}

TEST_F(RunHistoryTest, StepsThatWereSeenLiveAreNotMissingWhereTheJournalLacksThem) {
  RunHistory history = history_of({made_.started()});
  for (const wire::Record& record : made_.steps(10)) history.add(record);
  history.add(missing_commits(history.run()->run_id, 3, 10));
  EXPECT_EQ(history.run()->sums.records_missing, 2u) << "commits 11 and 12";
}

TEST_F(RunHistoryTest, ARunWhoseBeginningIsNoLongerKeptSaysSo) {
  (void)made_.started();
  (void)made_.steps(20);
  RunHistory history = history_of({made_.step()});
  EXPECT_EQ(history.run()->steps_before, 20u);
  EXPECT_FALSE(history.run()->started);
  history.add(status_of(MadeRun().started()));
  EXPECT_EQ(history.run()->started->solver(), "pagerank");
}

TEST_F(RunHistoryTest, WhatIsPersistedBetweenStepsIsTakenFromTheStatus) {
  RunHistory history = history_of({made_.started(), made_.step(), made_.step(), made_.step()});
  EXPECT_EQ(history.run()->steps_persisted, 1u);
  wire::Status status = status_of(MadeRun().started());
  status.set_attached(true);
  status.set_steps_persisted(3);
  history.add(status);
  EXPECT_EQ(history.run()->steps_persisted, 3u);
}

TEST_F(RunHistoryTest, AKindOfRecordOfALaterVersionIsSkipped) {
  wire::Record record;
  record.set_seq(1);
  const RunHistory history = history_of({record});
  EXPECT_FALSE(history.run());
  EXPECT_EQ(history.newest_seq(), 1u);
}

Schema state_and_field() {
  return Schema::of({{.name = "r", .dtype = DType::kF64, .shape = {9}, .role = Role::kState},
                     {.name = "u", .dtype = DType::kF32, .shape = {3, 4}, .unit = "K"}});
}

TEST_F(RunHistoryTest, ARunDescribedBehindItsFirstStepsHasNamesIfAllRecordsAreLearnedFirst) {
  made_.describe(state_and_field(), {{.name = "rho"}});
  const std::vector<wire::Record> records = {made_.step(), made_.step(), made_.described(), made_.step()};
  RunHistory history;
  for (const wire::Record& record : records) history.learn(record);
  for (const wire::Record& record : records) history.add(record);
  for (const SeriesPoint& point : history.run()->series.from(0, 10)) EXPECT_EQ(value_of(point, "u.sum"), point.step);
  EXPECT_EQ(history.run()->last_results.find("solver.rho").f64(), 11002);
  EXPECT_EQ(describe(history)["run"]["schema"][1]["unit"], "K");
}

TEST_F(RunHistoryTest, WithoutADescriptionValuesHaveNumbersUntilTheStatusNamesThem) {
  made_.describe(state_and_field());
  RunHistory history = history_of({made_.step(), made_.step()});
  EXPECT_EQ(history.run()->last_results.name(1), "#1");
  EXPECT_TRUE(describe(history)["last"]["residual_l1"].is_null());
  EXPECT_EQ(value_of(history.run()->series.newest(1).front(), "#1"), 1001);
  history.add(status_of(made_.started()));
  history.add(made_.step());
  EXPECT_EQ(history.run()->last_results.name(1), "u.mean");
}

TEST_F(HistoryJsonTest, AStepHasTheValuesThatAreAskedForInTheirOrder) {
  made_.describe(state_and_field(), {{.name = "rho"}});
  const RunHistory history = history_of({made_.started(), made_.step(), made_.step()});
  const std::vector<std::string> names = {"solver.rho", "u.change_l1", "nobody"};
  const auto steps = to_json(history.run()->series.from(0, 10), names);
  EXPECT_EQ(steps[0]["values"], (Json{11000.0, nullptr, nullptr}));
  EXPECT_EQ(steps[1]["values"], (Json{11001.0, 7001.0, nullptr}));
  EXPECT_TRUE(steps[1]["residual_l1"].is_null());
  EXPECT_EQ(steps[1]["course"], 7001.0);
  EXPECT_EQ(steps[1]["reductions"]["l2"], 5001.0);
  const auto described = describe(history);
  EXPECT_EQ(described["shown"]["course"], "u.change_l1");
  EXPECT_EQ(described["shown"]["field"], "u");
  EXPECT_EQ(described["shown"]["results"].size(), 12u);
  EXPECT_EQ(described["last"]["results"]["solver.rho"], 11001.0);
}

TEST_F(HistoryJsonTest, AValueThatIsNotFiniteIsToldFromOneThatIsAbsent) {
  made_.describe(state_and_field(), {{.name = "rho"}});
  const double inf = std::numeric_limits<double>::infinity();
  const RunHistory history = history_of({made_.started(), made_.step(), made_.step_with("solver.rho", -inf),
                                         made_.step_with("solver.rho", std::nan(""))});
  const std::vector<std::string> names = {"solver.rho", "u.change_l1"};
  const auto steps = to_json(history.run()->series.from(0, 10), names);
  EXPECT_EQ(steps[0]["values"], (Json{11000.0, nullptr}));
  EXPECT_EQ(steps[1]["values"], (Json{"-inf", 7001.0}));
  EXPECT_EQ(steps[2]["values"], (Json{"NaN", 7002.0}));
}

TEST_F(RunMarksTest, TheFirstAndTheNewestAreKeptAndAllAreCounted) {
  (void)made_.step();
  RunMarks marks;
  const std::uint64_t first_seq = made_.next_seq();
  for (int i = 0; i < 10'000; ++i) marks.add(made_.mark("trigger", "often", std::string(100'000, 'x'), {"mark"}));
  EXPECT_EQ(marks.count(), 10'000u);
  const std::vector<RunMark> kept = marks.kept();
  ASSERT_EQ(kept.size(), RunMarks::kFirst + RunMarks::kNewest);
  EXPECT_EQ(kept.front().seq, first_seq);
  EXPECT_EQ(kept[RunMarks::kFirst - 1].seq, first_seq + RunMarks::kFirst - 1);
  EXPECT_EQ(kept.back().seq, first_seq + 9'999);
  EXPECT_EQ(kept.back().text.size(), RunMarks::kMostTextBytes);
}

TEST_F(RunHistoryTest, ALateRecordOfAnEarlierRunDoesNotEndTheNewestOne) {
  MadeRun earlier;
  RunHistory history = history_of({earlier.started(), earlier.step()});
  MadeRun newest("another-run-0123", earlier.next_seq() + 2);
  wire::Record mark = earlier.mark("not_archived", "keep", "the archive is full", {});
  wire::Record analysis = earlier.analysis(1, "analysis.energy", 1);
  mark.set_seq(100);
  analysis.set_seq(101);
  for (const wire::Record& record : {newest.started(), newest.step(), mark, analysis}) history.add(record);
  EXPECT_EQ(history.run()->run_id, "another-run-0123");
  EXPECT_EQ(history.run()->series.size(), 1u);
  EXPECT_EQ(history.run()->marks.count(), 0u);
  EXPECT_TRUE(history.run()->analyses.courses().empty());
}

TEST(CourseSeriesTest, KeepsTheFirstAndTheNewestPointWithinItsLimit) {
  CourseSeries series(8);
  for (std::uint64_t k = 1; k <= 1000; ++k) {
    series.add({k, static_cast<std::int64_t>(10 * k), static_cast<double>(k)});
    ASSERT_LE(series.points().size(), 8u);
    ASSERT_EQ(series.points().front().iteration, 1u);
    ASSERT_EQ(series.points().back().iteration, k);
    for (std::size_t i = 1; i < series.points().size(); ++i) {
      ASSERT_LT(series.points()[i - 1].iteration, series.points()[i].iteration);
    }
  }
  EXPECT_GE(series.points().size(), 4u);
}

TEST_F(AnalysisSeriesTest, ALongRunAndManyNamesStayBounded) {
  AnalysisSeries analyses;
  for (std::uint64_t i = 1; i <= 5000; ++i)
    analyses.add(made_.analysis(i, "analysis.energy", static_cast<double>(i), 7));
  for (std::uint64_t i = 0; i < 1000; ++i) analyses.add(made_.analysis(1, "analysis.n" + std::to_string(i), 1));
  EXPECT_EQ(analyses.courses().size(), AnalysisSeries::kMostNames);
  EXPECT_EQ(analyses.left_out(), 1000 - (AnalysisSeries::kMostNames - 1));
  const auto& energy = analyses.courses().at("analysis.energy");
  EXPECT_EQ(energy.skipped, 7u);
  EXPECT_LE(energy.series.points().size(), CourseSeries::kMost);
  EXPECT_EQ(energy.series.points().front().iteration, 1u);
  EXPECT_EQ(energy.series.points().back().value, 5000);
}

TEST_F(HistoryJsonTest, ResultsOfAnAnalysisComeFromTheRecordAskedForOn) {
  RunHistory history =
      history_of({made_.started(), made_.step(), made_.analysis(1, "analysis.energy", 2.5), made_.step()});
  const std::uint64_t later = made_.next_seq();
  history.add(made_.analysis(2, "analysis.energy", std::nan("")));
  const auto& analyses = history.run()->analyses;
  const std::vector<std::string> names = {"x.l2", "analysis.energy"};
  const auto all = to_json(analyses, names, 0);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0]["name"], "analysis.energy");
  EXPECT_EQ(all[0]["points"], (Json{{3, 1, 2.5}, {later, 2, "NaN"}}));
  EXPECT_EQ(to_json(analyses, names, later)[0]["points"].size(), 1u);
  EXPECT_EQ(describe(history)["shown"]["analyses"]["analysis.energy"], 0);
}

TEST_F(HistoryJsonTest, MarksAndFailedPlugInsAreDescribed) {
  wire::Record started = made_.started();
  *started.mutable_run_started()->add_plug_ins() =
      testing::wire_message<wire::PlugIn>("name: 'l3' deaths: 2 left_out: true");
  const RunHistory history = history_of({started, made_.step(), made_.mark("trigger", "hot", "x.max > 3", {"freeze"})});
  const auto described = describe(history);
  EXPECT_EQ(described["marks"]["count"], 1);
  EXPECT_EQ(described["marks"]["list"][0]["iteration"], 1);
  EXPECT_EQ(described["marks"]["list"][0]["name"], "hot");
  EXPECT_EQ(described["marks"]["list"][0]["actions"], (Json{"freeze"}));
  EXPECT_EQ(described["ring"]["frozen_at_iteration"], 1) << "a mark says that a freeze followed";
  EXPECT_EQ(described["run"]["plug_ins"][0]["deaths"], 2);
  EXPECT_EQ(described["run"]["plug_ins"][0]["left_out"], true);
}

TEST_F(HistoryJsonTest, ALongTextOfAMarkEndsBetweenTwoCharacters) {
  std::string text;
  while (text.size() < 2 * RunMarks::kMostTextBytes) text += "\u20ac";
  const auto mark =
      describe(history_of({made_.started(), made_.step(), made_.mark("trigger", "hot", text, {})}))["marks"]["list"][0];
  EXPECT_EQ(mark["text"].text(), text.substr(0, RunMarks::kMostTextBytes / 3 * 3));
}

TEST_F(HistoryJsonTest, AFreezeAtIteration0IsOne) {
  wire::Record started = made_.started();
  EXPECT_TRUE(describe(history_of({started}))["ring"]["frozen_at_iteration"].is_null()) << "it is not frozen";
  wire::Record mark = made_.mark("trigger", "hot", "x.max > 3", {"freeze"});
  mark.mutable_mark()->set_iteration(0);
  EXPECT_EQ(describe(history_of({started, mark}))["ring"]["frozen_at_iteration"], 0);
  started.mutable_run_started()->set_frozen_at_iteration(0);
  EXPECT_EQ(describe(history_of({started}))["ring"]["frozen_at_iteration"], 0) << "by an earlier analyzer";
}

TEST(HandOffTimesTest, CountsGrowFromBoundToBound) {
  HandOffTimes times;
  times.add(1'000);
  times.add(1'001);
  times.add(2'000'000'000);
  EXPECT_EQ(times.at_most(0), 1u);
  EXPECT_EQ(times.at_most(1), 2u);
  EXPECT_EQ(times.at_most(HandOffTimes::kBoundsNs.size() - 1), 2u);
  EXPECT_EQ(times.count(), 3u);
}

TEST_F(HistoryJsonTest, TheRingShowsTheNewestIteratesWithTheirMarks) {
  std::vector<wire::Record> records = {made_.started()};
  for (wire::Record& record : made_.steps(20)) records.push_back(record);
  const auto ring = describe(history_of(records))["ring"];
  EXPECT_EQ(ring["slots"], MadeRun::kSlots);
  EXPECT_EQ(ring["used"], MadeRun::kSlots);
  ASSERT_EQ(ring["newest"].size(), MadeRun::kSlots);
  EXPECT_EQ(ring["newest"].front()["iteration"], 13);
  EXPECT_EQ(ring["newest"].back()["iteration"], 20);
  EXPECT_EQ(ring["newest"][5]["persisted"], true);
  EXPECT_EQ(ring["newest"][6]["persisted"], false);
}

TEST_F(HistoryJsonTest, BeforeTheFirstRunThereIsNothing) {
  const Json described = describe(RunHistory());
  for (const auto& [key, value] : described.items()) EXPECT_TRUE(value.is_null()) << key;
}

TEST_F(HistoryJsonTest, NamesMayHoldAnyByteAndFiguresNaN) {
  wire::Record step = made_.step();
  step.mutable_step()->set_residual_l1(std::nan(""));
  const std::string text = dump(describe(history_of({made_.started("a\"</script>\xff"), step})));
  const auto parsed = Json::parse(text);
  EXPECT_TRUE(parsed["last"]["residual_l1"].is_null());
}

}  // namespace
}  // namespace ringside
