// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/account_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "producer/solver/solver_table.hpp"
#include "tests/unit/expect_text.hpp"

namespace ringside {
namespace {

const RunFacts kPipeline{.mode = "pipeline",
                         .pool = "p.pool",
                         .producer_cores = "0",
                         .analyzer_cores = "1",
                         .coordination = "locks",
                         .buffers = 2,
                         .durability = "power"};

Json producer_report() {
  return {{"run", {{"run_id", "aa"}, {"problem_id", "bb"}, {"solver", "pagerank"}, {"matrix", "m"}, {"rows", 1234567}}},
          {"matrix_format", "packed"},
          {"iterations", 9},
          {"converged", true},
          {"residual_l1", 1e-9},
          {"steps_published", 9},
          {"generate_s", 1.0},
          {"producer_idle_s", 0.5},
          {"begun_ns", 1'000'000'000},
          {"ended_ns", 2'500'000'000}};
}

Json analyzer_report() {
  return {{"steps_committed", 9},
          {"steps_persisted", 7},
          {"bytes_transferred", 2'000'000'000},
          {"transfer_s", 0.25},
          {"commit_s", 0.01},
          {"analyze_s", 0.3},
          {"analyzer_idle_s", 1},
          {"ended_ns", 3'000'000'000},
          {"slots", 8},
          {"durability", "power"},
          {"hand_off_ns", {{"p50", 1500}, {"p99", 20'000}, {"max", 30'000}}}};
}

/// The table of the account for a run with these reports.
std::string shown(const Json& producer, const Json& analyzer = analyzer_report(), const RunFacts& facts = kPipeline) {
  return account_table(make_summary(facts, producer, analyzer), facts);
}

TEST(AccountTableTest, TotalRunsFromTheFirstIterationToTheLastThingDone) {
  const auto summary = make_summary(kPipeline, producer_report(), analyzer_report());
  EXPECT_DOUBLE_EQ(summary["total_s"].get<double>(), 2.0);
}

TEST(AccountTableTest, TheNodeThatWaitedLongestIsNamed) {
  Json analyzer = analyzer_report();
  analyzer["last"] = {{"iteration", 9},
                      {"mean", 1.0},
                      {"results", {{"solver.waited_for_node", 3}, {"solver.waited_ns", 1'500'000'000}}}};
  expect_has(shown(producer_report(), analyzer),
             {"  nodes      node 3 has waited longest for its analyzer: 1.500 s\n"});
  RunFacts one_node = kPipeline;
  one_node.nodes = 1;
  expect_lacks(shown(producer_report(), analyzer, one_node), {"  nodes "});
  analyzer["last"]["results"]["solver.waited_ns"] = 0;
  expect_has(shown(producer_report(), analyzer), {"  nodes      none has waited for its analyzer\n"});
  analyzer["last"].erase("results");
  expect_lacks(shown(producer_report(), analyzer), {"  nodes "});
}

TEST(AccountTableTest, AProgramLendsItsCoresAndBorrowsNone) {
  Json producer = producer_report();
  Json analyzer = analyzer_report();
  producer["analyzer_cores_lent_s"] = 0.13;
  analyzer["producer_cores_lent_s"] = 0.25;
  RunFacts facts = kPipeline;
  expect_lacks(shown(producer, analyzer, facts), {"(lent)"});
  facts.elastic = true;
  expect_has(shown(producer, analyzer, facts),
             {"    (lent)        0.250 s   12.5 %    (lent)        0.130 s    6.5 %\n"});
  facts.program = "./solver";
  producer.erase("analyzer_cores_lent_s");
  const Json summary = make_summary(facts, producer, analyzer);
  EXPECT_EQ(summary["elastic"], true);
  EXPECT_EQ(summary["producer_cores_lent_s"], 0.25);
  EXPECT_TRUE(summary["analyzer_cores_lent_s"].is_null());
  expect_has(account_table(summary, facts), {"    (lent)        0.250 s   12.5 %\n"});
}

TEST(AccountTableTest, BrokenLeasesAreShownIfThereAreAny) {
  Json analyzer = analyzer_report();
  analyzer["leases_broken"] = 0;
  const auto none = make_summary(kPipeline, producer_report(), analyzer);
  EXPECT_EQ(none["leases_broken"], 0);
  expect_lacks(account_table(none, kPipeline), {"readers"});
  analyzer["leases_broken"] = 3;
  expect_has(shown(producer_report(), analyzer), {"3 steps overwritten while a reader held them"});
}

TEST(AccountTableTest, TheSummaryNamesTheMatrixFormatUnderBothKeys) {
  const auto summary = make_summary(kPipeline, producer_report(), analyzer_report());
  EXPECT_EQ(summary["matrix_format"], "packed");
  EXPECT_EQ(summary["kernel"], "packed") << "the key's former name";
}

TEST(AccountTableTest, AMatrixInFarMemoryHasALineAndOneInDramHasNone) {
  Json producer = producer_report();
  producer["matrix_memory"] = "dram";
  const auto in_dram = make_summary(kPipeline, producer, analyzer_report());
  EXPECT_EQ(in_dram["matrix_memory"], "dram");
  EXPECT_TRUE(in_dram["matrix_faults"].is_null());
  expect_lacks(account_table(in_dram, kPipeline), {"  matrix  "});
  producer.update({{"matrix_memory", "far:/mnt"},
                   {"dram_limit_bytes", 40'000'000},
                   {"matrix_far_bytes", 160'000'000},
                   {"matrix_dram_peak_bytes", 40'000'000},
                   {"matrix_faults", 2000},
                   {"matrix_fault_s", 0.5},
                   {"matrix_far_read_bytes", 1'200'000'000}});
  const auto far = make_summary(kPipeline, producer, analyzer_report());
  for (const char* key : {"dram_limit_bytes", "matrix_far_bytes", "matrix_in_place_bytes", "matrix_dram_peak_bytes",
                          "matrix_faults", "matrix_fault_s", "matrix_far_read_bytes"}) {
    EXPECT_EQ(far[key], producer[key]) << key;
  }
  expect_has(account_table(far, kPipeline),
             {"  matrix     160.0 MB in far:/mnt, at most 40.0 MB of DRAM: 2,000 faults while solving, "
              "0.500 s of the threads' time; 1200.0 MB read\n"});
}

TEST(AccountTableTest, AProducerThatDiedBeforeItHadAFormatIsShownWithoutOne) {
  Json producer = producer_report();
  producer.erase("matrix_format");
  expect_has(shown(producer), {"nonzeros\n"});
}

TEST(AccountTableTest, OnlyACriterionOtherThanTheChangeIsShownBesideIt) {
  Json producer = producer_report();
  producer["criterion"] = 2.5e-11;
  for (const SolverEntry* solver : solvers()) {
    producer["run"]["solver"] = solver->choice.name;
    const auto summary = make_summary(kPipeline, producer, analyzer_report());
    EXPECT_EQ(summary["criterion"], 2.5e-11);
    const std::string table = account_table(summary, kPipeline);
    EXPECT_EQ(table.find("2.500e-11") != std::string::npos, solver->choice.criterion != kChangeCriterion) << table;
    EXPECT_EQ(table.find(fmt::format("; {} 2.5", solver->choice.criterion)) != std::string::npos,
              solver->choice.criterion != kChangeCriterion)
        << table;
  }
}

TEST(AccountTableTest, WhatAProcessThatDiedNeverReportedIsNull) {
  const auto summary = make_summary(kPipeline, producer_report(), Json());
  EXPECT_TRUE(summary["steps_committed"].is_null());
  EXPECT_TRUE(summary["hand_off_ns"].is_null());
  EXPECT_EQ(summary["iterations"], 9);
  expect_has(account_table(summary, kPipeline), {"`ringside info` shows what is in p.pool"});
}

TEST(AccountTableTest, TheBaselineHasNoRing) {
  RunFacts dram = kPipeline;
  dram.mode = "dram";
  Json producer = producer_report();
  producer["analyze_s"] = 0.7;
  const auto summary = make_summary(dram, producer, Json());
  EXPECT_EQ(summary["steps_committed"], 0);
  EXPECT_EQ(summary["transfer_s"], 0);
  EXPECT_DOUBLE_EQ(summary["analyze_s"].get<double>(), 0.7);
  EXPECT_TRUE(summary["slots"].is_null());
  expect_has(account_table(summary, dram), {"nothing kept"});
}

TEST(AccountTableTest, TheTableShowsWhatTheSummaryHolds) {
  expect_has(shown(producer_report()),
             {"1,234,567 rows", "nonzeros, format packed\n", "9 steps committed, 7 persisted",
              "the last 8 are in p.pool", "transfer 8.0 GB/s", "p50 1.50 us", "p99 20.0 us", "50.0 %"});
}

TEST(AccountTableTest, ARunBelowASecondIsShownInMilliseconds) {
  expect_has(shown(producer_report()), {"    generate      1.000 s   50.0 %    transfer      0.250 s   12.5 %\n"});
  Json producer = producer_report();
  Json analyzer = analyzer_report();
  producer.update({{"begun_ns", 1'000'000'000}, {"ended_ns", 1'002'000'000}, {"load_s", 0.0004}});
  producer.update({{"generate_s", 0.001}, {"producer_idle_s", 0.0005}});
  analyzer.update({{"ended_ns", 1'002'000'000}, {"transfer_s", 0.0002}, {"analyzer_idle_s", 0.0}});
  expect_has(shown(producer, analyzer),
             {"    generate     1.000 ms   50.0 %    transfer     0.200 ms   10.0 %\n", "loading took 0.400 ms\n"});
}

TEST(AccountTableTest, AProgramOfTheUsersIsNamedAndOnlyWhatItReportedIsShown) {
  RunFacts facts = kPipeline;
  facts.program = "./solver --fast";
  Json producer = producer_report();
  for (const char* key : {"matrix_format", "converged"}) producer.erase(key);
  producer["run"]["schema"] = {{{"name", "u"}, {"dtype", "f64"}, {"shape", {300, 300}}, {"unit", "K"}},
                               {{"name", "i"}, {"dtype", "i64"}, {"shape", Json::array()}, {"unit", ""}}};
  const auto summary = make_summary(facts, producer, analyzer_report());
  EXPECT_EQ(summary["program"], "./solver --fast");
  EXPECT_TRUE(summary["converged"].is_null());
  const std::string table = account_table(summary, facts);
  EXPECT_EQ(table.rfind("  program    ./solver --fast\n  problem    pagerank of m: u f64[300,300] K, i i64\n", 0), 0u)
      << table;
  expect_has(table, {"  solved     9 iterations; change in the last: L1 1.000e-09"});
  expect_lacks(table, {"loading", "converged"});
  EXPECT_TRUE(make_summary(kPipeline, producer_report(), analyzer_report())["program"].is_null());
}

}  // namespace
}  // namespace ringside
