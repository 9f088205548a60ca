// SPDX-License-Identifier: BSD-3-Clause
// The content of a report about a run, and of one about a summary. No text in the report may end the script element in
// which it is stored.
#include "cli/watch/report_page.hpp"

#include <gtest/gtest.h>

#include "common/platform/error.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/watch/made_run.hpp"

namespace ringside {
namespace {

using testing::MadeRun;

RunHistory history_of(MadeRun& made, std::uint64_t steps, const std::string& matrix = "grid:300") {
  RunHistory history;
  history.add(made.started(matrix));
  for (const wire::Record& record : made.steps(steps)) history.add(record);
  return history;
}

/// The data between the tags of the script element with the figures.
Json data_of(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  return Json::parse(page.substr(at, page.find("</script", at) - at));
}

TEST(ReportPageTest, TheAccountIsTheSumOfTheSteps) {
  MadeRun made;
  const auto report = report_of(history_of(made, 20));
  EXPECT_EQ(report["account"]["transfer_ns"], 20 * 300'000);
  EXPECT_EQ(report["account"]["producer_idle_ns"], 2 * 500'000);
  EXPECT_EQ(report["account"]["steps_persisted"], 18);
  EXPECT_EQ(report["steps"].size(), 20u);
}

TEST(ReportPageTest, ThePageNeedsNothingElse) {
  MadeRun made;
  const std::string page = report_page(report_of(history_of(made, 5)));
  for (const char* load : {" src=\"", "rel=\"stylesheet\"", "@import", "url("}) {
    EXPECT_EQ(page.find(load), std::string::npos) << load;
  }
  expect_has(page, {"Chart.js v"});
  EXPECT_EQ(data_of(page)["steps"].size(), 5u);
}

TEST(ReportPageTest, NoNameBecomesMarkup) {
  MadeRun made;
  const std::string name = "</script><script>alert(1)</script><!--";
  const std::string page = report_page(report_of(history_of(made, 1, name)));
  expect_lacks(page, {"alert(1)</script>"});
  EXPECT_EQ(data_of(page)["run"]["matrix"], name);
}

TEST(ReportPageTest, WhatTheJournalLacksIsSaid) {
  MadeRun made;
  (void)made.started();
  (void)made.steps(1234);
  RunHistory history;
  history.add(made.step());
  const auto notices = report_of(history)["notices"];
  ASSERT_EQ(notices.size(), 1u);
  expect_has(notices[0].get<std::string>(), {"first 1,234 steps"});
}

TEST(ReportPageTest, EachStepHasTheValuesOfTheResultsToChooseFrom) {
  MadeRun made;
  made.describe(Schema::of({{.name = "u", .dtype = DType::kF64, .shape = {9}}}), {{.name = "rho"}});
  const auto report = report_of(history_of(made, 3));
  EXPECT_EQ(report["shown"]["results"].size(), 12u);
  EXPECT_EQ(report["shown"]["results"].back(), "solver.rho");
  EXPECT_EQ(report["steps"][2]["values"].size(), 12u);
  EXPECT_EQ(report["steps"][2]["values"].back(), 11002.0);
  EXPECT_TRUE(report["account"]["residual_l1"].is_null());
}

TEST(ReportPageTest, MarksAndResultsOfAnalysesAreInIt) {
  MadeRun made;
  RunHistory history = history_of(made, 3);
  history.add(made.mark("trigger", "</script>", "x.max > 3", {"freeze"}));
  history.add(made.analysis(2, "analysis.energy", 2.5));
  const Json data = data_of(report_page(report_of(history)));
  EXPECT_EQ(data["marks"]["list"][0]["name"], "</script>");
  EXPECT_EQ(data["marks"]["list"][0]["iteration"], 3);
  EXPECT_EQ(data["analyses"][0]["name"], "analysis.energy");
  EXPECT_EQ(data["analyses"][0]["points"][0][1], 2);
}

TEST(ReportPageTest, ASummaryGivesTheAccount) {
  const Json summary = {{"run_id", "aa"},       {"solver", "pagerank"},
                        {"matrix", "m"},        {"generate_s", 1.5},
                        {"total_s", 2.0},       {"converged", true},
                        {"residual_l1", 1e-9},  {"iterations", 7},
                        {"steps_committed", 7}, {"hand_off_ns", {{"p50", 1000}, {"p99", 2000}, {"max", 3000}}}};
  const auto report = report_of_summary(summary, "s.json");
  EXPECT_EQ(report["account"]["generate_ns"], 1'500'000'000);
  EXPECT_EQ(report["state"], "converged");
  EXPECT_TRUE(report["steps"].empty());
  EXPECT_EQ(data_of(report_page(report))["hand_off_ns"]["max"], 3000);
}

TEST(ReportPageTest, OtherJsonIsNoSummary) {
  for (const Json& other : {Json::object(), Json::array(), Json{{"run_id", 1}}}) {
    EXPECT_THROW(report_of_summary(other, "o.json"), Error);
  }
}

}  // namespace
}  // namespace ringside
