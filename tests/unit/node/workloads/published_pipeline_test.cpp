// SPDX-License-Identifier: BSD-3-Clause
// The published simulation: its matrix, its iterates, and the equations that its account must satisfy.
#include "node/workloads/published_pipeline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "node/streams/tier_memory.hpp"
#include "tests/unit/allowed_cpus.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

std::vector<double> serial_iterate(const PublishedMatrix& matrix, int iterations) {
  std::vector<double> previous(matrix.rows, 1.0 / static_cast<double>(matrix.rows));
  std::vector<double> x(matrix.rows);
  const double c = (1 - kPublishedDamping) / static_cast<double>(matrix.rows);
  for (int k = 0; k < iterations; ++k) {
    generate_rows(matrix, previous.data(), x.data(), c, 0, matrix.rows);
    std::swap(x, previous);
  }
  return previous;
}

TEST(PublishedPipeline, TheGridHasThePublishedNumberOfEntries) {
  // 8 (s - 2)^2 + 20 (s - 2) + 12 for side s: 31,976,004 for 2000, as published.
  for (const std::uint64_t side : {4U, 17U}) {
    const std::uint64_t inner = side - 2;
    EXPECT_EQ(grid_of_eight(side).column.size(), 8 * inner * inner + 20 * inner + 12);
  }
  EXPECT_EQ(8U * 1998 * 1998 + 20 * 1998 + 12, 31'976'004U);
}

TEST(PublishedPipeline, EachColumnOfTheMatrixAddsUpToOne) {
  const PublishedMatrix matrix = grid_of_eight(9);
  std::vector<double> sums(matrix.rows, 0);
  for (std::size_t e = 0; e < matrix.column.size(); ++e) sums[matrix.column[e]] += matrix.value[e];
  for (const double sum : sums) EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(PublishedPipeline, TheIdentitiesOfTheAccountHoldForEverySplit) {
  const testing::TemporaryFolder folder;
  const PublishedMatrix matrix = grid_of_eight(40);
  for (const auto& [generators, analyzers] : {std::pair<std::size_t, std::size_t>{1, 1}, {2, 1}, {1, 2}, {3, 2}}) {
    const PipelineSetting setting{some_cpus(generators), some_cpus(analyzers), folder_tier(folder.path(), "--memory"),
                                  30};
    const PipelineTimes t = run_published_pipeline(matrix, setting).times;
    EXPECT_EQ(t.total_ns, t.generation_ns + t.generation_idle_ns);
    EXPECT_EQ(t.total_ns, t.transfer_ns + t.analysis_ns + t.analysis_idle_ns);
    EXPECT_GE(t.generation_idle_ns, 0);
    EXPECT_GE(t.analysis_idle_ns, 0);
  }
}

TEST(PublishedPipeline, InOneGroupTheTotalIsGenerationAndAnalysis) {
  const PipelineSetting setting{some_cpus(2), {}, dram_tier(), 20};
  const PipelineResult result = run_published_pipeline(grid_of_eight(30), setting);
  EXPECT_EQ(result.times.total_ns, result.times.generation_ns + result.times.analysis_ns);
  EXPECT_EQ(result.sums.size(), 20U);
}

TEST(PublishedPipeline, TheCopyIsTheSerialIterateToTheLastBitForEverySplit) {
  const PublishedMatrix matrix = grid_of_eight(33);
  for (const int iterations : {1, 2, 25}) {
    const std::vector<double> expected = serial_iterate(matrix, iterations);
    for (const auto& [generators, analyzers] : {std::pair<std::size_t, std::size_t>{1, 0}, {1, 1}, {2, 3}}) {
      const PipelineSetting setting{some_cpus(generators), some_cpus(analyzers), dram_tier(), iterations};
      EXPECT_EQ(run_published_pipeline(matrix, setting, true).last, expected) << generators << " + " << analyzers;
    }
  }
}

TEST(PublishedPipeline, TheLargestDifferenceIsFoundWhereverItIs) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> expected = {1, 2, 4, 0};
  EXPECT_EQ(largest_difference(expected, expected).relative, 0);
  EXPECT_EQ(largest_difference(std::vector<double>{1.5, 2, 4.5, 0}, expected).relative, 0.5);
  EXPECT_EQ(largest_difference(std::vector<double>{1, 2, 5, 0}, expected).row, 2U);
  for (std::size_t row = 0; row < expected.size(); ++row) {
    std::vector<double> damaged = expected;
    damaged[row] = kNan;
    EXPECT_TRUE(std::isinf(largest_difference(damaged, expected).relative)) << row;
    EXPECT_EQ(largest_difference(damaged, expected).row, row);
  }
}

TEST(PublishedPipeline, NoIterateIsSkipped) {
  const PublishedMatrix matrix = grid_of_eight(20);
  const PipelineSetting setting{some_cpus(1), some_cpus(1), dram_tier(), 15};
  const PipelineResult result = run_published_pipeline(matrix, setting);
  ASSERT_EQ(result.sums.size(), 15U);
  for (std::size_t k = 0; k < result.sums.size(); ++k) {
    const std::vector<double> x = serial_iterate(matrix, static_cast<int>(k) + 1);
    EXPECT_EQ(result.sums[k], std::accumulate(x.begin(), x.end(), 0.0));
  }
}

}  // namespace
}  // namespace ringside
