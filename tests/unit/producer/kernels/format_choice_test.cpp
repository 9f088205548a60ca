// SPDX-License-Identifier: BSD-3-Clause
// The model that chooses a matrix's format, and the figures on which the choice depends. The tests use only counts, no
// clock.
#include "producer/kernels/format_choice.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <vector>

#include "producer/kernels/row_layout.hpp"
#include "tests/reference/small_matrix.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"
#include "tests/unit/producer/openmp_threads.hpp"

namespace ringside {
namespace {

using namespace reference;

FormatCounts web_graph() {
  return {.rows = 325'557, .entries = 3'216'152, .single_rows = 320'000, .single_entries = 3'100'000};
}

TEST(FormatChoice, AMeshIsNotConverted) {
  const CsrMatrix grid = build_graph(90 * 90, grid_links(90));
  const RowLayout layout = make_row_layout(grid, MatrixFormat::kAuto, {});
  EXPECT_EQ(layout.format, MatrixFormat::kBands);
  EXPECT_TRUE(layout.packed.block.empty());
  EXPECT_FALSE(layout.reads_matrix()) << "its bands have all that is needed of the matrix";
}

TEST(FormatChoice, IrregularRowsArePacked) {
  const CsrMatrix graph = build_graph(5000, site_links(5000, 1));
  EXPECT_EQ(make_row_layout(graph, MatrixFormat::kAuto, {}).format, MatrixFormat::kPacked);
}

TEST(FormatChoice, WhatIsConvertedPaysForItselfWithinTenIterations) {
  for (const bool values : {false, true}) {
    for (const double far : {0.0, 1e5, 1e6, 3e6}) {
      for (const std::uint64_t entries : {1'000'000ul, 3'100'000ul, 1'000'000'000ul}) {
        FormatCounts counts = web_graph();
        counts.values = values;
        counts.entries = counts.single_entries = entries;
        counts.far_reads = far;
        counts.far_reads_ranked = far / 2;
        const MatrixFormat chosen = fastest_that_pays(counts, true);
        const double saved = iteration_ns(counts, MatrixFormat::kBands) - iteration_ns(counts, chosen);
        EXPECT_GE(saved * 10, conversion_ns(counts, chosen)) << to_string(chosen);
        EXPECT_EQ(conversion_ns(counts, MatrixFormat::kBands), 0);
      }
    }
  }
}

TEST(FormatChoice, AConversionThatDoesNotPayIsNotDone) {
  FormatCounts counts = web_graph();
  counts.far_reads = 1e6;
  counts.far_reads_ranked = 9.2e5;
  EXPECT_LT(iteration_ns(counts, MatrixFormat::kRanked), iteration_ns(counts, MatrixFormat::kPacked))
      << "it would be faster";
  EXPECT_EQ(fastest_that_pays(counts, true), MatrixFormat::kPacked);
}

TEST(FormatChoice, TheVectorIsOrderedWhereThatSparesEnoughFarReads) {
  FormatCounts counts = web_graph();
  counts.far_reads = 2e6;
  counts.far_reads_ranked = 1e6;
  EXPECT_EQ(fastest_that_pays(counts, true), MatrixFormat::kRanked);
  EXPECT_EQ(fastest_that_pays(counts, false), MatrixFormat::kPacked) << "a solver that cannot";
  counts.far_reads_ranked = 1.9e6;
  EXPECT_EQ(fastest_that_pays(counts, true), MatrixFormat::kPacked);
}

TEST(FormatChoice, DoesNotDependOnTheNumberOfThreads) {
  const std::uint64_t n = kNearVector + 1000;
  const CsrMatrix graph = build_graph(n, random_links(n, 2 * n, 3));
  std::vector<double> reads(n);
  for (const std::uint32_t column : graph.column) ++reads[column];
  const testing::OpenMpThreads restored;
  std::vector<MatrixFormat> chosen;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    chosen.push_back(make_row_layout(graph, MatrixFormat::kAuto, reads).format);
  }
  EXPECT_EQ(chosen, std::vector<MatrixFormat>(3, chosen[0]));
}

TEST(FormatChoice, PlacesAreEachTakenOnceAndPutWhatIsReadOftenFirst) {
  const std::vector<double> reads = {0, 3, 1, 9, 2, 8, 0, 1, 4};
  const Array<std::uint32_t> place = places_by_reads(reads);
  // Grouped by powers of two: {9, 8}, {4}, {3, 2}, {1, 1}, {0, 0}; each class keeps its original order.
  EXPECT_EQ(std::vector<std::uint32_t>(place.begin(), place.end()),
            (std::vector<std::uint32_t>{7, 3, 5, 0, 4, 1, 8, 6, 2}));
}

TEST(FormatChoice, EveryFormatHasItsNameAndOthersAreRefused) {
  for (const MatrixFormat format :
       {MatrixFormat::kAuto, MatrixFormat::kCsr, MatrixFormat::kBands, MatrixFormat::kPacked, MatrixFormat::kRanked}) {
    EXPECT_EQ(format_named(to_string(format)), format);
  }
  expect_has(failure_line([] { format_named("fast"); }), {"found 'fast', expected auto|csr|bands|packed|ranked"});
}

}  // namespace
}  // namespace ringside
