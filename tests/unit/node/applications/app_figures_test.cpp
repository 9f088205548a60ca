// SPDX-License-Identifier: BSD-3-Clause
// The figures of runs: results as hashes, seconds from the programs' output, medians and ratios.
#include <gtest/gtest.h>

#include "node/applications/app_figures.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

const App& app(const char* name) {
  return *chosen_apps({name}).front();
}

AppRun run_of(double seconds, std::optional<double> misses) {
  AppRun run;
  run.seconds = run.wall_s = seconds;
  run.resident_bytes = seconds * 100;
  run.counters = {{"llc_misses", "1", misses, misses ? "" : "hidden"}};
  return run;
}

TEST(AppPart, IsTheLinesFromTheFirstMarkToBeforeTheSecond) {
  const std::string text = "head\n  Origin = 1\nPlane\n  Elapsed 3 s\ntail\n";
  EXPECT_EQ(part_of(text, "Origin", "Elapsed"), "  Origin = 1\nPlane\n");
  EXPECT_EQ(part_of(text, "Plane", ""), "Plane\n  Elapsed 3 s\ntail\n");
  EXPECT_EQ(part_of(text, "head", "nowhere"), text);
  EXPECT_EQ(part_of(text, "nowhere", "tail"), "");
}

TEST(AppOutcome, OfOurProgramsIsTheChecksumAndTheTimedFigure) {
  const testing::TemporaryFolder folder;
  const std::string printed =
      folder.write("printed", R"({"figures":{"pass_s":0.5,"contracts":7},"checksum":"00ff","process":{"x":1}})");
  const AppOutcome outcome = outcome_of(app("blackscholes"), printed, "");
  EXPECT_EQ(outcome.wrong, "");
  EXPECT_EQ(outcome.figure_s, 0.5);
  const std::string other =
      folder.write("other", R"({"figures":{"pass_s":0.7},"checksum":"00ff","process":{"x":2}})");
  EXPECT_EQ(outcome_of(app("blackscholes"), other, "").result, outcome.result);
  const std::string wrong = folder.write("wrong", R"({"figures":{"pass_s":0.7},"checksum":"00fe"})");
  EXPECT_NE(outcome_of(app("blackscholes"), wrong, "").result, outcome.result);
}

TEST(AppOutcome, WithoutAResultOrAFigureSaysWhatIsMissing) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(outcome_of(app("blackscholes"), folder.write("a", ""), "").wrong, "it printed nothing");
  EXPECT_EQ(outcome_of(app("blackscholes"), folder.write("b", "text"), "").wrong, "its output has no checksum");
  EXPECT_EQ(outcome_of(app("blackscholes"), folder.write("c", R"({"checksum":"1"})"), "").wrong,
            "its output has no pass_s");
  EXPECT_EQ(outcome_of(app("sort"), "", folder.file("none")).wrong, "it wrote no output file");
  EXPECT_EQ(outcome_of(app("ringside"), "", folder.write("d", "{}")).wrong, "its output has no last");
  EXPECT_EQ(outcome_of(app("amg"), folder.write("e", "no such line\n"), "").wrong,
            "its output has no line with 'Iterations ='");
}

TEST(AppOutcome, OfACodeIgnoresTheTimesAroundItsResult) {
  const testing::TemporaryFolder folder;
  const std::string one = folder.write("one", "Run 1 s\nProblem size = 5\nenergy 7\nElapsed time = 1\n");
  const std::string two = folder.write("two", "Run 2 s\nProblem size = 5\nenergy 7\nElapsed time = 2\n");
  const std::string three = folder.write("three", "Run 1 s\nProblem size = 5\nenergy 8\nElapsed time = 1\n");
  EXPECT_EQ(outcome_of(app("lulesh"), one, "").result, outcome_of(app("lulesh"), two, "").result);
  EXPECT_NE(outcome_of(app("lulesh"), one, "").result, outcome_of(app("lulesh"), three, "").result);
}

TEST(AppTrafficAccount, IsTheTotalOfAllProcessesOrNothing) {
  const testing::TemporaryFolder folder;
  const auto found = traffic_of(folder.write(
      "account",
      R"({"total":{"read_bytes":10,"written_bytes":20,"faults":3,"far_peak_bytes":40,"fault_s":0.5},"processes":[]})"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->read_bytes, 10);
  EXPECT_EQ(found->written_bytes, 20);
  EXPECT_EQ(found->managed_bytes, 40);
  EXPECT_EQ(found->fault_s, 0.5);
  EXPECT_FALSE(traffic_of(folder.file("none")).has_value());
  EXPECT_FALSE(traffic_of(folder.write("other", "[]")).has_value());
  EXPECT_FALSE(traffic_of(folder.write("without", R"({"total":{}})")).has_value());
  const auto own = traffic_of_summary(folder.write("summary", R"({"matrix_far_bytes":64,"matrix_far_read_bytes":8})"));
  ASSERT_TRUE(own.has_value());
  EXPECT_EQ(own->managed_bytes, 64);
  EXPECT_EQ(own->read_bytes, 8);
  EXPECT_FALSE(traffic_of_summary(folder.write("in_dram", "{}")).has_value());
}

TEST(AppFigures, AreMediansAndTheSpreadOfAllRuns) {
  const AppFigures figures = figures_of({run_of(3, 30), run_of(1, 10), run_of(2, 50)});
  EXPECT_DOUBLE_EQ(figures.seconds.value, 2);
  EXPECT_DOUBLE_EQ(figures.seconds.spread, 0.4);
  EXPECT_DOUBLE_EQ(figures.resident_bytes, 300);
  EXPECT_DOUBLE_EQ(*counter_of(figures.counters, "llc_misses").value, 30);
  EXPECT_FALSE(figures.traffic.has_value());
}

TEST(AppFigures, ACounterThatOneRunLacksIsNotAvailable) {
  const AppFigures figures = figures_of({run_of(1, 10), run_of(2, std::nullopt)});
  EXPECT_FALSE(counter_of(figures.counters, "llc_misses").value.has_value());
  EXPECT_EQ(counter_of(figures.counters, "llc_misses").reason, "hidden");
  EXPECT_EQ(counter_of(figures.counters, "none").reason, "this quantity was not counted");
}

TEST(AppFigures, BandwidthIsBothDirectionsOverTheWholeRun) {
  AppRun run = run_of(2, std::nullopt);
  run.counters = {{"memory_read", "B", 30, ""}, {"memory_written", "B", 10, ""}};
  EXPECT_DOUBLE_EQ(*memory_bandwidth(figures_of({run})).value, 20);
  run.counters[1] = {"memory_written", "B", std::nullopt, "no unit"};
  EXPECT_EQ(memory_bandwidth(figures_of({run})).reason, "no unit");
}

}  // namespace
}  // namespace ringside
