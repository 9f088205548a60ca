#include "producer/kernels/row_runs.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <vector>

#include "producer/kernels/block_rows.hpp"
#include "tests/reference/small_matrix.hpp"

namespace ringside {
namespace {

using namespace reference;

/// Rebuilds every row's columns from the description, and checks that no row is described twice.
std::vector<std::vector<std::uint32_t>> rows_of(const CsrMatrix& matrix, const RowRuns& runs) {
  std::vector<std::vector<std::uint32_t>> rows(matrix.rows);
  std::vector<int> times(matrix.rows, 0);
  for (std::uint64_t b = 0; b < block_count(matrix.rows); ++b) {
    const std::uint64_t first = b * kBlockRows;
    std::uint64_t column = runs.block[b].run_column;
    for (std::uint64_t r = runs.block[b].run; r < runs.block[b + 1].run; ++r) {
      const RowRun run = runs.run[r];
      for (std::uint32_t t = 0; t < run.rows; ++t) {
        ++times[first + run.first_row + t];
        for (std::uint32_t j = 0; j < run.entries; ++j) {
          rows[first + run.first_row + t].push_back(runs.run_column[column + j] + t);
        }
      }
      column += run.entries;
    }
    EXPECT_EQ(column, runs.block[b + 1].run_column);
    for (std::uint64_t s = runs.block[b].single; s < runs.block[b + 1].single; ++s) {
      const std::uint64_t row = first + runs.single[s];
      ++times[row];
      for (std::uint64_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e) {
        rows[row].push_back(matrix.column[e]);
      }
    }
  }
  EXPECT_EQ(times, std::vector<int>(matrix.rows, 1));
  return rows;
}

void expect_described(const CsrMatrix& matrix) {
  const auto rows = rows_of(matrix, find_row_runs(matrix));
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    const std::vector<std::uint32_t> columns(matrix.column.data() + matrix.row_begin[row],
                                             matrix.column.data() + matrix.row_begin[row + 1]);
    ASSERT_EQ(rows[row], columns) << "row " << row;
  }
}

TEST(RowRuns, DescribeEveryRowExactlyOnce) {
  expect_described(build_graph(1, {}));
  expect_described(build_graph(70 * 70, grid_links(70)));
  expect_described(build_graph(70 * 70, thinned(grid_links(70), 0.002, 1)));
  expect_described(build_graph(70 * 70, thinned(grid_links(70), 0.3, 2)));
  expect_described(build_graph(3000, random_links(3000, 20000, 3)));
  expect_described(build_graph(5000, band_links(5000, {-40, -1, 0, 3})));
  expect_described(build_graph(5000, with_hub(band_links(5000, {-1, 0, 1}), 5000, 0)));
  expect_described(build_graph(5000, with_hub(band_links(5000, {-1, 0, 1}), 5000, 4999)));
}

TEST(RowRuns, AGridIsAllRuns) {
  const RowRuns runs = find_row_runs(build_graph(100 * 100, grid_links(100)));
  EXPECT_TRUE(runs.single.empty());
  // A line of the grid is its two ends and the run between them; the borders of ten blocks may cut one each.
  EXPECT_LE(runs.run.size(), 100u * 3 + 10);
}

TEST(RowRuns, ARandomGraphHasNone) {
  const RowRuns runs = find_row_runs(build_graph(4096, random_links(4096, 40000, 4)));
  EXPECT_TRUE(runs.run.empty());
  EXPECT_EQ(runs.single.size(), 4096u);
}

TEST(RowRuns, SingleRowsComeByAscendingNumberOfEntriesWithinTheirBlock) {
  const CsrMatrix matrix = build_graph(4096, random_links(4096, 40000, 5));
  const RowRuns runs = find_row_runs(matrix);
  for (std::uint64_t b = 0; b < block_count(matrix.rows); ++b) {
    std::uint64_t before = 0;
    for (std::uint64_t s = runs.block[b].single; s < runs.block[b + 1].single; ++s) {
      const std::uint64_t row = b * kBlockRows + runs.single[s];
      const std::uint64_t entries = matrix.row_begin[row + 1] - matrix.row_begin[row];
      EXPECT_GE(entries, before);
      before = entries;
    }
  }
}

TEST(RowRuns, RowsWithoutEntriesAreARun) {
  const RowRuns runs = find_row_runs(build_graph(1000, {}));
  ASSERT_EQ(runs.run.size(), 1u);
  EXPECT_EQ(runs.run[0].rows, 1000);
  EXPECT_EQ(runs.run[0].entries, 0u);
}

TEST(RowRuns, AMatrixWithValuesHasNone) {
  const RowRuns runs = find_row_runs(build_weighted_graph(400, grid_links(20)));
  EXPECT_TRUE(runs.run.empty());
  EXPECT_EQ(runs.single.size(), 400u);
}

TEST(RowRuns, DoNotDependOnTheNumberOfThreads) {
  const CsrMatrix matrix = build_graph(90 * 90, thinned(grid_links(90), 0.01, 6));
  const int threads_before = omp_get_max_threads();
  omp_set_num_threads(1);
  const RowRuns one = find_row_runs(matrix);
  omp_set_num_threads(5);
  const RowRuns five = find_row_runs(matrix);
  omp_set_num_threads(threads_before);
  EXPECT_EQ(one.run_column, five.run_column);
  EXPECT_EQ(one.single, five.single);
  ASSERT_EQ(one.run.size(), five.run.size());
  ASSERT_EQ(one.block.size(), five.block.size());
  for (std::size_t b = 0; b < one.block.size(); ++b) {
    EXPECT_EQ(one.block[b].run, five.block[b].run);
    EXPECT_EQ(one.block[b].run_column, five.block[b].run_column);
    EXPECT_EQ(one.block[b].single, five.block[b].single);
  }
}

}  // namespace
}  // namespace ringside
