// SPDX-License-Identifier: BSD-3-Clause
// The generated matrices: counts that a formula gives, neighbours that can be checked by hand, the same bits for every
// number of threads.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>

#include "producer/matrix/grid.hpp"
#include "producer/matrix/rmat.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"
#include "tests/unit/producer/openmp_threads.hpp"

namespace ringside {
namespace {

using testing::Entries;
using testing::entries_of;

TEST(Grid, HasTheCountsOfThePublishedExperiments) {
  const CsrMatrix grid = make_grid(2000, Orientation::kInLinks);
  EXPECT_EQ(grid.rows, 4'000'000u);
  EXPECT_EQ(grid.nonzeros(), 31'976'004u);
  EXPECT_TRUE(grid.is_pattern());
}

TEST(Grid, EveryCellIsLinkedWithEveryCellAtDistanceOneAndNoOther) {
  for (std::uint32_t side = 1; side <= 9; ++side) {
    Entries expected;
    const int n = static_cast<int>(side);
    for (int from = 0; from < n * n; ++from) {
      for (int to = 0; to < n * n; ++to) {
        const int distance = std::max(std::abs(from / n - to / n), std::abs(from % n - to % n));
        if (distance == 1) expected.emplace_back(from, to, 1.0);
      }
    }
    EXPECT_EQ(entries_of(make_grid(side, Orientation::kRows)), expected) << side;
  }
}

TEST(Grid, PlacesEveryLineAlsoBeyondTwoToThe32Entries) {
  for (const std::uint32_t side : {1u, 2u, 3u, 100u, 16400u, 23171u, 65535u}) {
    const std::uint64_t n = side;
    std::uint64_t links = 0;
    for (std::uint32_t y = 0; y < side; ++y) {
      ASSERT_EQ(grid_links_above(side, y), links) << "side " << side << ", line " << y;
      const std::uint64_t lines = 1u + (y > 0 ? 1u : 0u) + (y + 1 < side ? 1u : 0u);
      // A cell in one of the two outer columns reaches one column less. In a grid with one column, both neighbouring
      // columns are missing.
      const std::uint64_t columns_reached = n == 1 ? 1 : 3 * n - 2;
      links += lines * columns_reached - n;
    }
    EXPECT_EQ(grid_links_above(side, side), links) << side;
  }
  EXPECT_GT(grid_links_above(16400, 16400), std::uint64_t{1} << 31);
  EXPECT_EQ(grid_links_above(65535, 65535), 34'357'903'384u);  // 4 s (s - 1) + 4 (s - 1)^2
}

TEST(Grid, RefusesWhatMemoryDoesNotHold) {
  // 8 * 65535^2 entries of 4 bytes: 137 GB.
  const auto make_largest = [] { make_grid(65535, Orientation::kRows); };
  expect_has(failure_line(make_largest, ExitCode::kSystem), {"MiB"});
}

TEST(Rmat, IsTheSameForEveryNumberOfThreads) {
  const testing::OpenMpThreads one_at_first(1);
  const CsrMatrix one = make_rmat({.scale = 12, .edge_factor = 8, .seed = 7}, Orientation::kInLinks);
  for (const int threads : {2, 3, 8}) {
    omp_set_num_threads(threads);
    testing::expect_same_matrix(make_rmat({.scale = 12, .edge_factor = 8, .seed = 7}, Orientation::kInLinks), one);
  }
}

TEST(Rmat, OrientationsAreTransposesOfEachOther) {
  const Entries rows = entries_of(make_rmat({.scale = 8, .edge_factor = 4, .seed = 1}, Orientation::kRows));
  Entries turned;
  for (const auto& [row, column, value] :
       entries_of(make_rmat({.scale = 8, .edge_factor = 4, .seed = 1}, Orientation::kInLinks))) {
    turned.emplace_back(column, row, value);
  }
  std::sort(turned.begin(), turned.end());
  EXPECT_EQ(turned, rows);
}

TEST(Rmat, QuadrantsHaveTheProbabilitiesOfGraph500) {
  // At scale 1, the four possible edges are the quadrants, but duplicates are merged, which hides their counts.
  // Therefore the shares are taken from the first level of a large graph that is so sparse that few edges are merged.
  const CsrMatrix matrix = make_rmat({.scale = 18, .edge_factor = 1, .seed = 1}, Orientation::kRows);
  double quadrant[4] = {};
  const std::uint64_t half = matrix.rows / 2;
  for (const auto& [row, column, value] : entries_of(matrix))
    quadrant[(row >= half ? 2 : 0) + (column >= half ? 1 : 0)] += 1;
  const auto edges = static_cast<double>(matrix.nonzeros());
  // Merging removes more edges from the dense quadrant. The standard error for 262144 draws is 0.001.
  EXPECT_NEAR(quadrant[0] / edges, 0.57, 0.02);
  EXPECT_NEAR(quadrant[1] / edges, 0.19, 0.01);
  EXPECT_NEAR(quadrant[2] / edges, 0.19, 0.01);
  EXPECT_NEAR(quadrant[3] / edges, 0.05, 0.01);
}

TEST(Rmat, SeedsMakeDifferentGraphsAndTheSameSeedTheSame) {
  const RmatOptions options{.scale = 10, .edge_factor = 16, .seed = 1};
  const CsrMatrix first = make_rmat(options, Orientation::kRows);
  EXPECT_EQ(make_rmat(options, Orientation::kRows).content_id, first.content_id);
  EXPECT_NE(make_rmat({.scale = 10, .edge_factor = 16, .seed = 2}, Orientation::kRows).content_id, first.content_id);
  EXPECT_EQ(first.rows, 1024u);
  EXPECT_LT(first.nonzeros(), 16384u);
  EXPECT_GT(first.nonzeros(), 8192u);
}

}  // namespace
}  // namespace ringside
