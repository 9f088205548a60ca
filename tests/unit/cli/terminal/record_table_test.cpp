// SPDX-License-Identifier: BSD-3-Clause
// The output of `ringside tail`, without a terminal: units, sparklines, combined steps, events.
#include "cli/terminal/record_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/telemetry/wire_json.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/wire_text.hpp"
#include "tests/watch/made_run.hpp"

namespace ringside {
namespace {

wire::Record step(std::uint64_t iteration) {
  wire::Record record;
  record.set_seq(iteration);
  wire::StepRecord& step = *record.mutable_step();
  step.set_iteration(iteration);
  step.set_residual_l1(std::pow(10.0, -static_cast<double>(iteration)));
  step.set_generate_ns(1'000'000);
  step.set_producer_idle_ns(3'000'000);
  step.set_analyze_ns(1'000'000);
  return record;
}

std::vector<wire::Record> steps(std::uint64_t count) {
  std::vector<wire::Record> records;
  for (std::uint64_t i = 1; i <= count; ++i) records.push_back(step(i));
  return records;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(RecordTable, DurationsHaveUnitsThatFitThem) {
  EXPECT_EQ(duration_text(0), "0");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1234), "1.23 us");
  EXPECT_EQ(duration_text(56'789'000), "56.8 ms");
  EXPECT_EQ(duration_text(999'600'000), "1.00 s");
  EXPECT_EQ(duration_text(123'456'000'000), "123 s");
}

TEST(RecordTable, ASparklineRunsFromLowestToHighestAndLeavesOutWhatIsNoNumber) {
  EXPECT_EQ(sparkline({0, 0.5, 1, std::numeric_limits<double>::quiet_NaN(), 2}, 0, 1), "▁▅█ █");
  EXPECT_EQ(sparkline({3, 3}, 3, 3), "▁▁");
}

TEST(RecordTable, TheHeaderComesAgainEveryScreenful) {
  const std::string text = RecordTable({.screen_rows = 10}).lines(steps(40));
  std::size_t headers = 0;
  for (std::size_t at = 0; (at = text.find("iteration", at)) != std::string::npos; ++at) ++headers;
  EXPECT_EQ(headers, 5u);
}

TEST(RecordTable, ManyStepsArePutTogetherAndTheirNumberIsSaid) {
  const std::string text = RecordTable({.most_lines = 4}).lines(steps(400));
  EXPECT_EQ(lines_in(text), 5u) << text;
  expect_has(text, {" 100 ", "75 %"});
}

std::size_t widest_in(const std::string& text) {
  std::size_t widest = 0;
  std::size_t columns = 0;
  for (const char c : text) {
    const bool continues = (static_cast<unsigned char>(c) & 0xc0u) == 0x80;  // a bar's second or third byte
    columns = c == '\n' ? 0 : columns + (continues ? 0 : 1);
    widest = std::max(widest, columns);
  }
  return widest;
}

TEST(RecordTable, ALineFitsTheScreenWithSparklinesThenCommitThenHandOffLeftOut) {
  const std::vector<wire::Record> records = steps(12);
  const auto drawn = [&](std::size_t columns) { return RecordTable({.screen_columns = columns}).lines(records); };
  const std::string whole = drawn(0);
  expect_has(whole, {"█", "commit", "change", "prod. idle"});
  EXPECT_EQ(drawn(widest_in(whole)), whole);
  for (const std::size_t columns : {120u, 100u, 90u, 80u}) EXPECT_LE(widest_in(drawn(columns)), columns);
  expect_lacks(drawn(120), {"█"});
  expect_has(drawn(120), {"commit"});
  expect_lacks(drawn(100), {"commit"});
  expect_has(drawn(100), {"hand-off"});
  expect_lacks(drawn(90), {"hand-off"});
  expect_has(drawn(90), {"time"});
  expect_has(drawn(80), {"anal. idle"});
}

TEST(RecordTable, AScreenThatIsResizedGetsANewHeaderAndWhatFits) {
  const std::vector<wire::Record> records = {step(1)};
  RecordTable table({.screen_rows = 24, .screen_columns = 200});
  const std::string wide = table.lines(records);
  EXPECT_EQ(lines_in(wide), 2u);
  table.fit(24, 200);
  EXPECT_EQ(lines_in(table.lines(records)), 1u) << "nothing has changed";
  table.fit(24, 80);
  const std::string narrow = table.lines(records);
  EXPECT_EQ(lines_in(narrow), 2u);
  EXPECT_LE(widest_in(narrow), 80u);
  table.fit(50, 200);
  EXPECT_EQ(widest_in(table.lines(records)), widest_in(wide));
}

/// The records of a run with named results: its description and two steps.
std::vector<wire::Record> named_run(const Schema& schema, const std::vector<Scalar>& scalars) {
  testing::MadeRun made;
  made.describe(schema, scalars);
  return {made.started(), made.step(), made.step()};
}

std::string table_of(const std::vector<wire::Record>& records) {
  ResultNames names;
  for (const wire::Record& record : records) names.learn(record);
  return RecordTable({}).lines(records, names);
}

TEST(RecordTable, ARunOfSeveralFieldsShowsTheChangeOfTheFirstAndTheScalarsOfItsSolver) {
  const Schema schema = Schema::of(
      {{.name = "u", .dtype = DType::kF64, .shape = {9}}, {.name = "v", .dtype = DType::kF64, .shape = {4}}});
  const std::string text = table_of(named_run(schema, {{.name = "rho"}, {.name = "a_name_that_is_quite_long"}}));
  // The last three parts are solver.rho, the change of u in step 1, and the absent change of the first step.
  expect_has(text, {"u f64[9], v f64[4]", " change ", " rho ", " a_name_that_is_quite ", " 2.20e+04 ", " 7.00e+03 ",
                    "       - "});
}

TEST(RecordTable, ARunOfStatesShowsItsFirstScalar) {
  const Schema schema = Schema::of({{.name = "r", .dtype = DType::kF64, .shape = {9}, .role = Role::kState}});
  const std::string text = table_of(named_run(schema, {{.name = "energy"}, {.name = "rho"}}));
  expect_lacks(text, {"change"});
  expect_has(text, {" energy ", " 1.00e+03"});
}

TEST(RecordTable, ResultsOfAnAnalysisAreLinesOfTheirOwn) {
  testing::MadeRun made;
  const std::string text = RecordTable({}).lines(
      std::vector{made.analysis(1, "analysis.energy", 2), made.analysis(1000, "analysis.energy", 0.5, 3)});
  expect_has(text,
             {" iteration 1: analysis.energy 2\n", " iteration 1,000: analysis.energy 0.5, 3 steps skipped so far\n"});
}

TEST(RecordTable, OnAScreenTheNewestOfManyIsShownAndStepsAreStillPutTogether) {
  testing::MadeRun made;
  std::vector<wire::Record> records;
  for (std::uint64_t i = 1; i <= 400; ++i) {
    records.push_back(step(i));
    records.push_back(made.analysis(i, "analysis.energy", static_cast<double>(i)));
  }
  const std::string text = RecordTable({.most_lines = 4}).lines(records);
  EXPECT_EQ(lines_in(text), 1u + 4u + 1u) << text;
  expect_has(text, {"analysis.energy 400"});
}

TEST(RecordTable, ADescriptionOfARunIsNoLine) {
  testing::MadeRun made;
  made.describe(Schema::x_only(3));
  EXPECT_EQ(RecordTable({}).lines(std::vector{made.described()}), "");
}

TEST(StatusText, NamesTheFiguresOfTheNewestStep) {
  const std::vector<wire::Record> records =
      named_run(Schema::of({{.name = "u", .dtype = DType::kF64, .shape = {9}}}), {{.name = "rho"}});
  wire::Status status;
  *status.mutable_run() = records[0].run_started();
  *status.mutable_last() = records[2].step();
  expect_has(status_text(status), {"iteration 2: change L1 7.001e+03, Linf 9.001e+03, rho 1.100e+04"});
}

TEST(WireJson, AStepHasItsResultsByNameAndTheOlderKeysOfTheFirstField) {
  const std::vector<wire::Record> records =
      named_run(Schema::of({{.name = "u", .dtype = DType::kF64, .shape = {9}}}), {{.name = "residual_l1"}});
  ResultNames names;
  names.learn(records[0]);
  const auto first = to_json(records[1], names);
  EXPECT_EQ(first["results"].size(), 12u);
  EXPECT_EQ(first["results"]["u.l2"], 5000.0);
  EXPECT_TRUE(first["results"]["u.change_l1"].is_null());
  EXPECT_TRUE(first["reductions"]["change_l1"].is_null());
  EXPECT_EQ(first["reductions"]["l2"], 5000.0);
  EXPECT_EQ(first["residual_l1"], 11000.0);
  EXPECT_TRUE(first["residual_linf"].is_null());
  const auto unnamed = to_json(records[1]);
  EXPECT_EQ(unnamed["results"]["#0"], 0.0);
  EXPECT_TRUE(unnamed["reductions"].is_null());
  const auto started = to_json(records[0], names);
  EXPECT_EQ(started["schema"][0]["shape"][0], 9);
  EXPECT_EQ(started["results"][0]["name"], "sum");
}

TEST(RecordTable, AMarkIsALineWithWhatFollowedFromIt) {
  testing::MadeRun made;
  const std::vector<wire::Record> records = {made.started(), made.step(),
                                             made.mark("trigger", "hot", "x.max > 3", {"freeze", "reply:0.5"}),
                                             made.mark("non_finite", "", "evil\x1b[2J", {})};
  const std::string text = RecordTable({}).lines(records);
  expect_has(text,
             {"mark hot at iteration 1: x.max > 3; then freeze, reply:0.5\n", "mark non_finite at iteration 1: evil"});
  expect_lacks(text, {"\x1b"});
}

TEST(RecordTable, APlugInThatFailedIsNamed) {
  testing::MadeRun made;
  wire::Record record = made.started();
  wire::RunStarted& run = *record.mutable_run_started();
  for (const char* plug_in : {"name: 'good'", "name: 'l3' deaths: 1", "name: 'l4' deaths: 2 left_out: true"}) {
    *run.add_plug_ins() = testing::wire_message<wire::PlugIn>(plug_in);
  }
  const std::string text = RecordTable({}).lines({&record, 1});
  EXPECT_EQ(lines_in(text), 3u) << text;
  expect_has(text, {"plug-in l3 has ended the analyzer once\n",
                    "plug-in l4 has ended the analyzer 2 times and is left out: its results are absent"});
  wire::Status status;
  *status.mutable_run() = run;
  status.set_frozen_at_iteration(1234);
  expect_has(status_text(status), {"plug-in    l4 has ended", "frozen at iteration 1,234"});
  status.set_frozen_at_iteration(0);
  expect_has(status_text(status), {"frozen at iteration 0"});
  status.clear_frozen_at_iteration();
  expect_lacks(status_text(status), {"frozen"});
}

TEST(WireJson, MarksAndResultsOfAnalysesHaveAllTheirFields) {
  testing::MadeRun made;
  (void)made.step();
  const auto mark = to_json(made.mark("trigger", "hot", "x.max > 3", {"freeze", "stop"}));
  EXPECT_EQ(mark["event"], "mark");
  EXPECT_EQ(mark["iteration"], 1);
  EXPECT_EQ(mark["action"], (Json{"freeze", "stop"}));
  wire::Record record = made.analysis(1, "analysis.energy", 2.5, 3);
  record.mutable_analysis_results()->add_name("analysis.drift");
  record.mutable_analysis_results()->add_value(std::numeric_limits<double>::quiet_NaN());
  const auto results = to_json(record);
  EXPECT_EQ(results["event"], "analysis_results");
  EXPECT_EQ(results["results"], (Json{{"analysis.energy", 2.5}, {"analysis.drift", nullptr}}));
  EXPECT_EQ(results["skipped"], 3);
  EXPECT_FALSE(results.contains("value"));
}

TEST(RecordTable, ColoursAreThereOnlyWhereAskedFor) {
  const std::vector<wire::Record> records = {step(1)};
  EXPECT_EQ(RecordTable({}).lines(records).find('\x1b'), std::string::npos);
  EXPECT_NE(RecordTable({.colours = true}).lines(records).find('\x1b'), std::string::npos);
}

TEST(RecordTable, ANameCannotControlTheTerminal) {
  wire::Record record;
  record.mutable_run_started()->set_matrix("evil\x1b[2J\r\n");
  const std::string text = RecordTable({}).lines({&record, 1});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(lines_in(text), 1u);
}

TEST(StatusText, SaysWhatIsKeptOfARunWithDurabilityProcess) {
  wire::Status status;
  status.mutable_run()->set_durability("process");
  status.set_steps_committed(219);
  const std::string text = status_text(status);
  expect_has(text, {"219 committed, kept across the death of processes"});
  expect_lacks(text, {"persisted"});
  status.mutable_run()->set_durability("power");
  expect_has(status_text(status), {"0 persisted"});
}

TEST(WireJson, AnAnalyzersIdIsTextAsNoNumberHoldsAllItsDigitsEverywhere) {
  wire::Status status;
  status.set_analyzer_id(0xfedcba9876543210);
  EXPECT_EQ(to_json(status)["analyzer_id"], "fedcba9876543210");
  EXPECT_EQ(to_json(wire::Status())["analyzer_id"], "0000000000000000");
}

TEST(WireJson, HoldsEveryFieldWithNumbersAsNumbersAndIdsInHexadecimal) {
  wire::Record record = step(5);
  record.mutable_step()->set_run_id(std::string("\x01\xff", 2));
  record.mutable_step()->set_residual_linf(std::numeric_limits<double>::infinity());
  const Json shown = to_json(record);
  EXPECT_EQ(shown["event"], "step");
  EXPECT_EQ(shown["run_id"], "01ff");
  EXPECT_EQ(shown["generate_ns"], 1'000'000);
  EXPECT_TRUE(shown["residual_linf"].is_null());
  EXPECT_TRUE(shown["reductions"].is_null());
  EXPECT_EQ(shown["rebuilt"], false);
}

}  // namespace
}  // namespace ringside
