// SPDX-License-Identifier: BSD-3-Clause
// The reductions of a field of doubles as a record. Every number of threads, passes and chunks must give the same bits.
// Also tests NaN, infinities and equal entries. field_reducer_test compares with a serial reference implementation.
#include "common/reductions/reduction.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "tests/reference/serial_reductions.hpp"
#include "tests/unit/common/reductions/reduction_cases.hpp"

namespace ringside {
namespace {

Reductions reduce_with(int threads, const Case& c, int passes = 1) {
  omp_set_num_threads(threads);
  Reducer reducer(c.x.size());
  const Reductions result = reducer.reduce(c.x.data(), c.before(), passes);
  omp_set_num_threads(omp_get_num_procs());
  return result;
}

TEST(Reduction, GivesTheSameBitsForAnyNumberOfThreads) {
  for (const Case& c : finite_cases()) {
    const Reductions expected = reduce_with(1, c);
    for (int threads : {2, 3, 5}) {
      EXPECT_TRUE(bit_equal(reduce_with(threads, c), expected)) << c.name << ", " << threads << " threads";
    }
  }
}

TEST(Reduction, GivesTheSameBitsForAnyNumberOfPasses) {
  for (const Case& c : finite_cases()) {
    const Reductions expected = reduce_with(3, c, 1);
    EXPECT_TRUE(bit_equal(reduce_with(3, c, 5), expected)) << c.name;
  }
}

TEST(Reduction, AReducerForgetsTheIterateBefore) {
  const Case first{"", random_vector(5000, -5, 5, 1), random_vector(5000, -5, 5, 2)};
  const Case second{"", random_vector(5000, 0, 1, 3), {}};
  Reducer reducer(5000);
  reducer.reduce(first.x.data(), first.previous.data(), 1);
  const Reductions found = reducer.reduce(second.x.data(), nullptr, 2);
  EXPECT_TRUE(bit_equal(found, reduce_with(1, second)));
}

TEST(Reduction, CompensatesAcrossBlocks) {
  // First 1, then in each block a value that is too small to change the sum, and at the end -1. The result must be
  // exactly the sum of the small values.
  const std::size_t blocks = 50;
  Vector x(blocks * block_rows(), 0.0);
  x.front() = 1;
  for (std::size_t block = 1; block + 1 < blocks; ++block) x[block * block_rows()] = 0x1p-60;
  x.back() = -1;
  EXPECT_EQ(reduce_with(2, {"", x, {}}).sum, static_cast<double>(blocks - 2) * 0x1p-60);
}

TEST(Reduction, CountsWhatIsNotFiniteAndKeepsItOutOfExtremesAndTop) {
  const std::size_t rows = 3 * block_rows() + 5;
  Vector x = random_vector(rows, 1, 2, 1);
  for (std::size_t row : {std::size_t{0}, std::size_t{9}, block_rows() + 3, rows - 1}) x[row] = kNaN;
  const Case c{"NaN", x, {}};
  const Reductions found = reduce_with(2, c);
  const Reductions expected = reference::serial_reductions(c.x, c.previous);
  EXPECT_EQ(found.non_finite, 4U);
  EXPECT_EQ(found.min, expected.min);
  EXPECT_EQ(found.max, expected.max);
  EXPECT_EQ(found.linf, expected.linf);
  EXPECT_EQ(std::memcmp(found.top, expected.top, sizeof found.top), 0);
  EXPECT_EQ(std::memcmp(found.histogram, expected.histogram, sizeof found.histogram), 0);
  EXPECT_TRUE(std::isnan(found.sum) && std::isnan(found.l1) && std::isnan(found.l2));
}

TEST(Reduction, CountsANaNAmongEntriesOfOneBinInTheLastBin) {
  Vector x(block_rows(), 1.0);
  x[17] = kNaN;
  const Reductions found = reduce_with(1, {"", x, {}});
  EXPECT_EQ(found.histogram[240], block_rows() - 1);
  EXPECT_EQ(found.histogram[kHistogramBins - 1], 1U);
}

TEST(Reduction, AnInfinityMakesTheNormsInfinite) {
  Vector x = random_vector(3 * block_rows(), -1, 1, 1);
  x[block_rows() + 1] = kInfinity;
  const Reductions found = reduce_with(2, {"", x, {}});
  EXPECT_EQ(found.non_finite, 1U);
  EXPECT_EQ((Vector{found.sum, found.l1, found.l2, found.linf, found.max}), Vector(5, kInfinity));
  EXPECT_EQ(found.top[0].row, block_rows() + 1);
  x[3] = -kInfinity;
  EXPECT_TRUE(std::isnan(reduce_with(2, {"", x, {}}).sum));
  EXPECT_EQ(reduce_with(2, {"", x, {}}).min, -kInfinity);
}

TEST(Reduction, NoChangeButNaNIsNotReportedAsNoChange) {
  Vector x(3 * block_rows(), kNaN);
  const Vector before(x.size(), 1.0);
  EXPECT_TRUE(std::isnan(reduce_with(2, {"", x, before}).change_linf));
  x[5] = 1.0;  // this entry has not changed
  EXPECT_TRUE(std::isnan(reduce_with(2, {"", x, before}).change_linf));
  x[7] = 1.5;
  EXPECT_EQ(reduce_with(2, {"", x, before}).change_linf, 0.5);
  EXPECT_EQ(reduce_with(2, {"", before, before}).change_linf, 0.0);
}

TEST(Reduction, NothingButNaNLeavesTheExtremesEmpty) {
  const Reductions found = reduce_with(2, {"", Vector(40, kNaN), {}});
  EXPECT_EQ(found.min, kInfinity);
  EXPECT_EQ(found.max, -kInfinity);
  EXPECT_EQ(found.top_count, 0U);
  EXPECT_EQ(found.non_finite, 40U);
}

TEST(Reduction, NonFiniteValuesGiveTheSameBitsEverywhere) {
  for (std::size_t rows : sizes()) {
    Case c{std::to_string(rows) + " rows", wide_vector(rows, true, 1), wide_vector(rows, true, 2)};
    std::mt19937_64 generator(3);
    for (std::size_t i = 0; i < 1 + rows / 50; ++i) c.x[generator() % rows] = i % 2 == 0 ? kNaN : kInfinity;
    const Reductions expected = reduce_with(1, c);
    for (int threads : {2, 3}) EXPECT_TRUE(bit_equal(reduce_with(threads, c), expected)) << c.name;
    EXPECT_EQ(expected.non_finite, reference::serial_reductions(c.x, {}).non_finite) << c.name;
  }
}

TEST(Reduction, ANormThatOverflowsIsNotTakenForValuesThatAreNotFinite) {
  const Reductions found = reduce_with(1, {"", Vector(100, 1e300), {}});
  EXPECT_EQ(found.l2, kInfinity);
  EXPECT_EQ(found.non_finite, 0U);
}

TEST(Reduction, EqualLargestEntriesAreOrderedByRow) {
  Vector x(2 * block_rows(), 1.0);
  for (std::size_t row = 5; row < x.size(); row += 97) x[row] = 2.0;
  for (int threads : {1, 2, 3}) {
    const Reductions found = reduce_with(threads, {"", x, {}});
    for (std::size_t i = 0; i < kTopEntries; ++i) EXPECT_EQ(found.top[i].row, 5 + 97 * i);
  }
}

TEST(Reduction, FewerRowsThanTopEntriesGiveThemAll) {
  const Reductions found = reduce_with(3, {"", {3, 1, 2}, {}});
  ASSERT_EQ(found.top_count, 3U);
  EXPECT_EQ(found.top[0].row, 0U);
  EXPECT_EQ(found.top[1].row, 2U);
  EXPECT_EQ(found.top[2].row, 1U);
}

TEST(Reduction, HistogramBinsBeginWhereTheyAreSaidTo) {
  for (std::size_t bin = 1; bin < kHistogramBins; ++bin) {
    const double lower = std::ldexp(1.0 + 0.25 * static_cast<double>(bin % 4), static_cast<int>(bin / 4) - 60);
    const Reductions found = reduce_with(1, {"", {lower, std::nextafter(lower, 0.0)}, {}});
    EXPECT_EQ(found.histogram[bin], 1U) << bin;
    EXPECT_EQ(found.histogram[bin - 1], 1U) << bin;
  }
  EXPECT_EQ(reduce_with(1, {"", {1e300, 16, -kInfinity}, {}}).histogram[kHistogramBins - 1], 3U);
  EXPECT_EQ(reduce_with(1, {"", {0, -0.0, 1e-300}, {}}).histogram[0], 3U);
}

}  // namespace
}  // namespace ringside
