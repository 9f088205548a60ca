// SPDX-License-Identifier: BSD-3-Clause
// The metrics for Prometheus, parsed as Prometheus does: names, types, HELP texts, and the values from the records.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>

#include "cli/run_history/watched_run.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/watch/made_run.hpp"

namespace ringside {
namespace {

using testing::MadeRun;

/// The samples in the text format, as a map from "name{labels}" to the value.
std::map<std::string, double> samples(const std::string& text) {
  std::map<std::string, double> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::size_t blank = line.rfind(' ');
    found[line.substr(0, blank)] = std::stod(line.substr(blank + 1));
  }
  return found;
}

class MetricsTest : public ::testing::Test {
 protected:
  /// The samples after `count` steps.
  std::map<std::string, double> run_steps(std::uint64_t count) {
    watched_.analyzer_is(true);
    watched_.take(std::vector{made_.started()});
    watched_.take(made_.steps(count));
    return samples(watched_.metrics_text());
  }

  WatchedRun watched_;
  MadeRun made_;
};

TEST_F(MetricsTest, AreTheFiguresOfTheRecordsInBaseUnits) {
  const auto found = run_steps(10);
  EXPECT_EQ(found.at("ringside_steps_committed_total"), 10);
  EXPECT_EQ(found.at("ringside_steps_persisted_total"), 8);
  EXPECT_EQ(found.at("ringside_leases_broken_total"), 0);
  EXPECT_EQ(found.at("ringside_iteration"), 10);
  EXPECT_DOUBLE_EQ(found.at("ringside_residual_l1"), std::pow(0.9, 9));
  EXPECT_NEAR(found.at("ringside_producer_idle_seconds_total"), 0.0005, 1e-12);
  EXPECT_NEAR(found.at("ringside_transfer_seconds_total"), 0.003, 1e-12);
  EXPECT_EQ(found.at("ringside_transferred_bytes_total"), 7'200'000);
  EXPECT_EQ(found.at("ringside_hand_off_seconds_count"), 10);
  EXPECT_NEAR(found.at("ringside_hand_off_seconds_sum"), 15.45e-6, 1e-12);
  EXPECT_EQ(found.at("ringside_hand_off_seconds_bucket{le=\"+Inf\"}"), 10);
  EXPECT_EQ(found.at("ringside_run_active"), 1);
}

Schema two_fields() {
  return Schema::of({{.name = "r", .dtype = DType::kF64, .shape = {9}, .role = Role::kState},
                     {.name = "u", .dtype = DType::kF64, .shape = {9}},
                     {.name = "n", .dtype = DType::kI64, .shape = {7}}});
}

TEST_F(MetricsTest, EachResultOfTheNewestStepHasASampleWithItsName) {
  made_.describe(two_fields(), {{.name = "rho"}, {.name = "restarts", .type = ValueType::kI64}});
  const auto found = run_steps(3);
  const auto& results = made_.layout()->results();
  EXPECT_EQ(results.size(), 11u + 10u + 2u);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string& name = results[i].result->full_name;
    EXPECT_EQ(found.at("ringside_result{name=\"" + name + "\"}"), 1000.0 * static_cast<double>(i) + 2) << name;
  }
  EXPECT_EQ(found.at("ringside_non_finite_entries"), found.at("ringside_result{name=\"u.non_finite\"}"));
  EXPECT_FALSE(found.contains("ringside_residual_l1")) << "its solver publishes none";
}

TEST_F(MetricsTest, TheNewestResultOfAnAnalysisHasASample) {
  run_steps(1);
  watched_.take(std::vector{made_.step(), made_.analysis(2, "analysis.energy", 0.25)});
  EXPECT_EQ(samples(watched_.metrics_text()).at("ringside_result{name=\"analysis.energy\"}"), 0.25);
}

TEST_F(MetricsTest, WhatIsAbsentHasNoSample) {
  made_.describe(two_fields());
  auto found = run_steps(1);
  EXPECT_TRUE(found.contains("ringside_result{name=\"u.l1\"}"));
  EXPECT_FALSE(found.contains("ringside_result{name=\"u.change_l1\"}"));
  watched_.take(std::vector{made_.step()});
  found = samples(watched_.metrics_text());
  EXPECT_TRUE(found.contains("ringside_result{name=\"u.change_l1\"}"));
}

TEST_F(MetricsTest, OfManyResultsTheFirst256HaveASeriesAndALineCountsTheOthers) {
  std::vector<Variable> variables;
  for (int v = 0; v < 100; ++v)
    variables.push_back({.name = "v" + std::to_string(v), .dtype = DType::kF64, .shape = {2}});
  made_.describe(Schema::of(variables));
  run_steps(2);
  const std::string text = watched_.metrics_text();
  std::size_t series = 0;
  for (const auto& [name, value] : samples(text)) series += name.starts_with("ringside_result{") ? 1u : 0u;
  EXPECT_EQ(series, 256u);
  expect_has(text, {"# 844 further results have no series\n"});
}

TEST_F(MetricsTest, AStepFromBeforeThereWereNamesHasItsResultsToo) {
  const auto found = run_steps(3);
  EXPECT_EQ(found.at("ringside_result{name=\"x.l2\"}"), 0.004);
  EXPECT_EQ(found.at("ringside_result{name=\"solver.residual_l1\"}"), found.at("ringside_residual_l1"));
}

TEST_F(MetricsTest, ThereIsNothingOfARunBeforeTheFirst) {
  const auto found = samples(watched_.metrics_text());
  EXPECT_EQ(found.at("ringside_analyzer_up"), 0);
  EXPECT_FALSE(found.contains("ringside_iteration"));
}

TEST_F(MetricsTest, CountersBeginAnewWithAnotherRun) {
  run_steps(10);
  MadeRun second("another-one-9876", made_.next_seq());
  watched_.take(std::vector{second.started(), second.step()});
  const std::string text = watched_.metrics_text();
  EXPECT_EQ(samples(text).at("ringside_steps_committed_total"), 1);
  EXPECT_EQ(text.find("72756e2d3031"), std::string::npos) << "the first run's id is still there";
}

TEST_F(MetricsTest, OnlyTheInfoMetricNamesTheRun) {
  run_steps(3);
  std::istringstream lines(watched_.metrics_text());
  for (std::string line; std::getline(lines, line);) {
    if (line.find("run_id=") == std::string::npos) continue;
    EXPECT_TRUE(line.starts_with("ringside_run_info{")) << line;
  }
}

TEST_F(MetricsTest, EveryMetricHasHelpAndAConventionalName) {
  run_steps(3);
  std::istringstream lines(watched_.metrics_text());
  std::string help;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, word, name, type;
    words >> hash >> word >> name >> type;
    if (word == "HELP") help = name;
    if (word != "TYPE") continue;
    EXPECT_EQ(help, name);
    EXPECT_TRUE(name.starts_with("ringside_")) << name;
    EXPECT_EQ(type == "counter", name.ends_with("_total")) << name;
    expect_lacks(name, {"_ns", "_ms"});
  }
}

TEST_F(MetricsTest, NamesInLabelsAreEscaped) {
  watched_.take(std::vector{made_.started("a\"b\\c\nd")});
  expect_has(watched_.metrics_text(), {R"(matrix="a\"b\\c\nd")"});
}

TEST_F(MetricsTest, AnAnalyzerThatWentAwayIsDownAndTheRunKeepsItsFigures) {
  run_steps(3);
  watched_.analyzer_is(false);
  auto found = samples(watched_.metrics_text());
  EXPECT_EQ(found.at("ringside_analyzer_up"), 0);
  EXPECT_EQ(found.at("ringside_steps_committed_total"), 3);
  watched_.another_analyzer_came();
  found = samples(watched_.metrics_text());
  EXPECT_EQ(found.at("ringside_analyzer_up"), 1);
  EXPECT_EQ(found.at("ringside_analyzer_changes_total"), 1);
}

}  // namespace
}  // namespace ringside
