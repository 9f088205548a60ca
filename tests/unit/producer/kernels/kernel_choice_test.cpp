// The model that chooses a kernel, and the figures it chooses by: counts alone, no clock.
#include "producer/kernels/kernel_choice.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/platform/error.hpp"
#include "producer/kernels/row_layout.hpp"
#include "tests/reference/small_matrix.hpp"

namespace ringside {
namespace {

using namespace reference;

KernelCounts web_graph() {
  return {.rows = 325'557, .entries = 3'216'152, .single_rows = 320'000, .single_entries = 3'100'000};
}

TEST(KernelChoice, AMeshIsNotConverted) {
  const CsrMatrix grid = build_graph(90 * 90, grid_links(90));
  const RowLayout layout = make_row_layout(grid, Kernel::kAuto, {});
  EXPECT_EQ(layout.kernel, Kernel::kRuns);
  EXPECT_TRUE(layout.packed.block.empty());
  EXPECT_FALSE(layout.reads_matrix()) << "its runs have all that is needed of the matrix";
}

TEST(KernelChoice, IrregularRowsArePacked) {
  const CsrMatrix graph = build_graph(5000, site_links(5000, 1));
  EXPECT_EQ(make_row_layout(graph, Kernel::kAuto, {}).kernel, Kernel::kPacked);
}

TEST(KernelChoice, WhatIsConvertedPaysForItselfWithinTenIterations) {
  for (const bool values : {false, true}) {
    for (const double far : {0.0, 1e5, 1e6, 3e6}) {
      for (const std::uint64_t entries : {1'000'000ul, 3'100'000ul, 1'000'000'000ul}) {
        KernelCounts counts = web_graph();
        counts.values = values;
        counts.entries = counts.single_entries = entries;
        counts.far_reads = far;
        counts.far_reads_ranked = far / 2;
        const Kernel chosen = fastest_that_pays(counts, true);
        const double saved = iteration_ns(counts, Kernel::kRuns) - iteration_ns(counts, chosen);
        EXPECT_GE(saved * 10, conversion_ns(counts, chosen)) << to_string(chosen);
        EXPECT_EQ(conversion_ns(counts, Kernel::kRuns), 0);
      }
    }
  }
}

TEST(KernelChoice, AConversionThatDoesNotPayIsNotDone) {
  KernelCounts counts = web_graph();
  counts.far_reads = 1e6;
  counts.far_reads_ranked = 9.2e5;
  EXPECT_LT(iteration_ns(counts, Kernel::kRanked), iteration_ns(counts, Kernel::kPacked)) << "it would be faster";
  EXPECT_EQ(fastest_that_pays(counts, true), Kernel::kPacked);
}

TEST(KernelChoice, TheVectorIsOrderedWhereThatSparesEnoughFarReads) {
  KernelCounts counts = web_graph();
  counts.far_reads = 2e6;
  counts.far_reads_ranked = 1e6;
  EXPECT_EQ(fastest_that_pays(counts, true), Kernel::kRanked);
  EXPECT_EQ(fastest_that_pays(counts, false), Kernel::kPacked) << "a solver that cannot";
  counts.far_reads_ranked = 1.9e6;
  EXPECT_EQ(fastest_that_pays(counts, true), Kernel::kPacked);
}

TEST(KernelChoice, DoesNotDependOnTheNumberOfThreads) {
  const std::uint64_t n = kNearVector + 1000;
  const CsrMatrix graph = build_graph(n, random_links(n, 2 * n, 3));
  std::vector<double> reads(n);
  for (const std::uint32_t column : graph.column) ++reads[column];
  const int threads_before = omp_get_max_threads();
  std::vector<Kernel> chosen;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    chosen.push_back(make_row_layout(graph, Kernel::kAuto, reads).kernel);
  }
  omp_set_num_threads(threads_before);
  EXPECT_EQ(chosen, std::vector<Kernel>(3, chosen[0]));
}

TEST(KernelChoice, PlacesAreEachTakenOnceAndPutWhatIsReadOftenFirst) {
  const std::vector<double> reads = {0, 3, 1, 9, 2, 8, 0, 1, 4};
  const Array<std::uint32_t> place = places_by_reads(reads);
  // By powers of two: {9, 8}, {4}, {3, 2}, {1, 1}, {0, 0}, each in its own order.
  EXPECT_EQ(std::vector<std::uint32_t>(place.begin(), place.end()),
            (std::vector<std::uint32_t>{7, 3, 5, 0, 4, 1, 8, 6, 2}));
}

TEST(KernelChoice, EveryKernelHasItsNameAndOthersAreRefused) {
  for (const Kernel kernel : {Kernel::kAuto, Kernel::kCsr, Kernel::kRuns, Kernel::kPacked, Kernel::kRanked}) {
    EXPECT_EQ(kernel_named(to_string(kernel)), kernel);
  }
  try {
    kernel_named("fast");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kUsage);
    EXPECT_NE(std::string(error.what()).find("found 'fast', expected auto|csr|runs|packed|ranked"), std::string::npos);
  }
}

}  // namespace
}  // namespace ringside
