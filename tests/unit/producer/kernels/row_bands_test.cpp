// SPDX-License-Identifier: BSD-3-Clause
#include "producer/kernels/row_bands.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <vector>

#include "producer/kernels/block_rows.hpp"
#include "tests/reference/small_matrix.hpp"
#include "tests/unit/producer/openmp_threads.hpp"

namespace ringside {
namespace {

using namespace reference;

/// Rebuilds every row's columns from the description, and checks that no row is described twice.
std::vector<std::vector<std::uint32_t>> rows_of(const CsrMatrix& matrix, const RowBands& bands) {
  std::vector<std::vector<std::uint32_t>> rows(matrix.rows);
  std::vector<int> times(matrix.rows, 0);
  for (std::uint64_t b = 0; b < block_count(matrix.rows); ++b) {
    const std::uint64_t first = b * kBlockRows;
    std::uint64_t column = bands.block[b].band_column;
    for (std::uint64_t r = bands.block[b].band; r < bands.block[b + 1].band; ++r) {
      const RowBand band = bands.band[r];
      for (std::uint32_t t = 0; t < band.rows; ++t) {
        ++times[first + band.first_row + t];
        for (std::uint32_t j = 0; j < band.entries; ++j) {
          rows[first + band.first_row + t].push_back(bands.band_column[column + j] + t);
        }
      }
      column += band.entries;
    }
    EXPECT_EQ(column, bands.block[b + 1].band_column);
    for (std::uint64_t s = bands.block[b].single; s < bands.block[b + 1].single; ++s) {
      const std::uint64_t row = first + bands.single[s];
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
  const auto rows = rows_of(matrix, find_row_bands(matrix));
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    const std::vector<std::uint32_t> columns(matrix.column.data() + matrix.row_begin[row],
                                             matrix.column.data() + matrix.row_begin[row + 1]);
    ASSERT_EQ(rows[row], columns) << "row " << row;
  }
}

TEST(RowBands, DescribeEveryRowExactlyOnce) {
  expect_described(build_graph(1, {}));
  expect_described(build_graph(70 * 70, grid_links(70)));
  expect_described(build_graph(70 * 70, thinned(grid_links(70), 0.002, 1)));
  expect_described(build_graph(70 * 70, thinned(grid_links(70), 0.3, 2)));
  expect_described(build_graph(3000, random_links(3000, 20000, 3)));
  expect_described(build_graph(5000, band_links(5000, {-40, -1, 0, 3})));
  expect_described(build_graph(5000, with_hub(band_links(5000, {-1, 0, 1}), 5000, 0)));
  expect_described(build_graph(5000, with_hub(band_links(5000, {-1, 0, 1}), 5000, 4999)));
}

TEST(RowBands, AGridIsAllBands) {
  const RowBands bands = find_row_bands(build_graph(100 * 100, grid_links(100)));
  EXPECT_TRUE(bands.single.empty());
  // A line of the grid consists of its two ends and the band between them. Each border between the ten blocks may cut
  // one band.
  EXPECT_LE(bands.band.size(), 100u * 3 + 10);
}

TEST(RowBands, ARandomGraphHasNone) {
  const RowBands bands = find_row_bands(build_graph(4096, random_links(4096, 40000, 4)));
  EXPECT_TRUE(bands.band.empty());
  EXPECT_EQ(bands.single.size(), 4096u);
}

TEST(RowBands, SingleRowsComeByAscendingNumberOfEntriesWithinTheirBlock) {
  const CsrMatrix matrix = build_graph(4096, random_links(4096, 40000, 5));
  const RowBands bands = find_row_bands(matrix);
  for (std::uint64_t b = 0; b < block_count(matrix.rows); ++b) {
    std::uint64_t before = 0;
    for (std::uint64_t s = bands.block[b].single; s < bands.block[b + 1].single; ++s) {
      const std::uint64_t row = b * kBlockRows + bands.single[s];
      const std::uint64_t entries = matrix.row_begin[row + 1] - matrix.row_begin[row];
      EXPECT_GE(entries, before);
      before = entries;
    }
  }
}

TEST(RowBands, RowsWithoutEntriesAreABand) {
  const RowBands bands = find_row_bands(build_graph(1000, {}));
  ASSERT_EQ(bands.band.size(), 1u);
  EXPECT_EQ(bands.band[0].rows, 1000);
  EXPECT_EQ(bands.band[0].entries, 0u);
}

/// Entry (row, row + distance) has the value value_of(row, distance).
template <class ValueOf>
CsrMatrix with_values(std::uint64_t rows, const std::vector<std::int64_t>& distances, const ValueOf& value_of) {
  std::vector<Entry> entries;
  for (std::uint64_t row = 0; row < rows; ++row) {
    for (const std::int64_t distance : distances) {
      const std::uint64_t column = row + static_cast<std::uint64_t>(distance);
      if (column < rows) entries.push_back({row, column, value_of(row, distance)});
    }
  }
  return build_matrix(rows, entries, Orientation::kRows, true);
}

TEST(RowBands, RowsOfABandHaveEqualValues) {
  const auto constant = [](std::uint64_t, std::int64_t distance) { return distance == 0 ? 4.0 : -1.5; };
  const RowBands bands = find_row_bands(with_values(3000, {-1, 0, 1}, constant));
  EXPECT_TRUE(bands.single.empty());
  ASSERT_EQ(bands.band_weight.size(), bands.band_column.size());
  std::size_t at = bands.block[1].band_column;  // the second block is one band
  ASSERT_EQ(bands.block[2].band - bands.block[1].band, 1u);
  EXPECT_EQ(bands.band_weight[at++], -1.5);
  EXPECT_EQ(bands.band_weight[at++], 4.0);
  EXPECT_EQ(bands.band_weight[at], -1.5);
}

TEST(RowBands, ABandEndsWhereAValueChanges) {
  const auto steps = [](std::uint64_t row, std::int64_t) { return row < 300 ? 1.0 : 2.0; };
  const RowBands bands = find_row_bands(with_values(1000, {0, 1}, steps));
  ASSERT_GE(bands.band.size(), 2u);
  EXPECT_EQ(bands.band[0].rows, 300);
  EXPECT_EQ(bands.band[1].first_row, 300);
}

TEST(RowBands, RowsOfDifferentValuesAreSingle) {
  const auto all_differ = [](std::uint64_t row, std::int64_t) { return 1.0 + static_cast<double>(row); };
  const RowBands bands = find_row_bands(with_values(400, {-1, 0, 1}, all_differ));
  EXPECT_TRUE(bands.band.empty());
  EXPECT_EQ(bands.single.size(), 400u);
}

TEST(RowBands, WithScalesEveryEntryHasTheScaleOfItsColumn) {
  const CsrMatrix matrix = build_graph(70 * 70, thinned(grid_links(70), 0.001, 3));
  std::vector<double> scale(matrix.rows);
  for (std::size_t i = 0; i < scale.size(); ++i) scale[i] = i % 97 == 0 ? 0.25 : 0.125;
  const RowBands bands = find_row_bands(matrix);
  const testing::OpenMpThreads threads(3);
  const std::optional<RowBands> result = with_scales(bands, scale, bands.band.size() + 4900);
  ASSERT_TRUE(result);
  const RowBands& scaled = *result;
  EXPECT_FALSE(with_scales(bands, scale, scaled.band.size() - 1)) << "more bands than asked for";
  EXPECT_EQ(rows_of(matrix, scaled), rows_of(matrix, bands));
  EXPECT_EQ(scaled.single, bands.single);
  ASSERT_EQ(scaled.band_weight.size(), scaled.band_column.size());
  std::size_t at = 0;
  for (const RowBand& band : scaled.band) {
    for (std::uint32_t j = 0; j < band.entries; ++j, ++at) {
      for (std::uint32_t row = 0; row < band.rows; ++row) {
        ASSERT_EQ(scaled.band_weight[at], scale[scaled.band_column[at] + row]);
      }
    }
  }
}

TEST(RowBands, DoNotDependOnTheNumberOfThreads) {
  const CsrMatrix matrix = build_graph(90 * 90, thinned(grid_links(90), 0.01, 6));
  const testing::OpenMpThreads one_at_first(1);
  const RowBands one = find_row_bands(matrix);
  omp_set_num_threads(5);
  const RowBands five = find_row_bands(matrix);
  EXPECT_EQ(one.band_column, five.band_column);
  EXPECT_EQ(one.single, five.single);
  ASSERT_EQ(one.band.size(), five.band.size());
  ASSERT_EQ(one.block.size(), five.block.size());
  for (std::size_t b = 0; b < one.block.size(); ++b) {
    EXPECT_EQ(one.block[b].band, five.block[b].band);
    EXPECT_EQ(one.block[b].band_column, five.block[b].band_column);
    EXPECT_EQ(one.block[b].single, five.block[b].single);
  }
}

}  // namespace
}  // namespace ringside
