// SPDX-License-Identifier: BSD-3-Clause
// Every experiment with small arrays: the tables must be complete, with n/a and a reason for what is missing on this
// machine.
#include <gtest/gtest.h>

#include <filesystem>

#include "node/experiments/experiment.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

ExperimentOptions small(const std::vector<std::string>& memory = {}) {
  ExperimentOptions options;
  options.memory = memory;
  options.repeats = 4;
  options.bytes = 64 << 10;
  options.apps.programs = {"sort"};
  options.apps.dram = {"4M"};
  return options;
}

TEST(Experiments, EachOneFillsItsTablesAndLeavesNoFile) {
  const testing::TemporaryFolder folder;
  for (const Experiment& experiment : experiments()) {
    const ExperimentResult result = experiment.run(surroundings_for(small({folder.path()})));
    ASSERT_FALSE(result.tables.empty()) << experiment.name;
    for (const ResultTable& table : result.tables) {
      EXPECT_FALSE(table.rows.empty() && table.key != "drops") << experiment.name << ", " << table.key;
      for (const auto& row : table.rows) ASSERT_EQ(row.size(), table.columns.size()) << experiment.name;
    }
    EXPECT_FALSE(result.series.empty()) << experiment.name;
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << experiment.name;
  }
}

TEST(Experiments, EveryNotAvailableValueHasAReason) {
  for (const Experiment& experiment : experiments()) {
    for (const ResultTable& table : experiment.run(surroundings_for(small())).tables) {
      for (const auto& row : table.rows) {
        for (const Cell& cell : row) {
          const auto* none = std::get_if<NotAvailable>(&cell);
          EXPECT_TRUE(none == nullptr || !none->reason.empty()) << experiment.name;
        }
      }
    }
  }
}

TEST(Experiments, ACompetitionIsAlsoReportedInTheWindowsOfTheEarlyText) {
  ExperimentOptions options = small();
  options.repeats = 10;
  options.threads = {2};
  const Surroundings around = surroundings_for(options);
  if (around.cpus.size() < 2) GTEST_SKIP() << "two groups need two processors";
  const ExperimentResult result = compete_experiment(around);
  const ResultTable& windows = result.tables[2];
  ASSERT_EQ(windows.key, "windows");
  // The table has three benchmarks with six windows in DRAM, and the three rows of NVDIMM.
  ASSERT_EQ(windows.rows.size(), 3U * 6 + 3);
  for (std::size_t i = 0; i < 18; ++i) {
    const auto figure = [&](std::size_t column) { return std::get<double>(windows.rows[i][column]); };
    EXPECT_EQ(figure(4), i % 6 == 0 ? 1 : 2.0 * static_cast<double>(i % 6) - 1);
    EXPECT_EQ(figure(5), i % 6 == 0 ? 1 : 2.0 * static_cast<double>(i % 6));
    EXPECT_DOUBLE_EQ(figure(8), figure(6) + figure(7));
  }
}

TEST(Experiments, ThePipelineKeepsItsLastIterate) {
  const ExperimentResult result = pipeline_experiment(surroundings_for(small()));
  EXPECT_EQ(result.last_iterate.size(), 90U * 90);
  double sum = 0;
  for (const double x : result.last_iterate) sum += x;
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(Experiments, WithOneThreadTwoGroupsAreNotAvailable) {
  ExperimentOptions options = small();
  options.threads = {1};
  const ExperimentResult result = compete_experiment(surroundings_for(options));
  const auto& row = result.tables.front().rows.front();
  EXPECT_EQ(std::get<NotAvailable>(row.back()).reason, "two groups need at least two threads");
}

TEST(Experiments, AnUnknownNameIsRefusedWithTheNamesThereAre) {
  EXPECT_EQ(failure_line([] { (void)find_experiment("streem"); }),
            "NAME: found 'streem', expected one of stream, compete, placement, streams, pipeline, apps, list");
}

TEST(Experiments, AFolderThatIsNamedTwiceIsRefused) {
  const testing::TemporaryFolder folder;
  EXPECT_NE(failure_line([&] { (void)surroundings_for(small({folder.path(), folder.path()})); }), "");
}

}  // namespace
}  // namespace ringside
