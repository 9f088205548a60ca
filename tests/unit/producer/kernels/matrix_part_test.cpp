// SPDX-License-Identifier: BSD-3-Clause
// Parts of a matrix that several processes have: the rows, the numbers of the columns, and the blocks that wait for
// ghosts.
#include "producer/matrix/matrix_part.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>
#include <vector>

#include "common/threads/openmp_team.hpp"
#include "common/threads/team.hpp"
#include "producer/kernels/block_parts.hpp"
#include "producer/matrix/grid.hpp"
#include "producer/matrix/refused_entry.hpp"
#include "producer/matrix/symmetry.hpp"
#include "tests/reference/small_matrix.hpp"

namespace ringside {
namespace {

using namespace reference;

/// Three rows for each of two processes; row 1 reads the columns 0, 1, 4, 5, and so on.
CsrMatrix six_rows() {
  const std::vector<Entry> entries = {{0, 0, 1}, {0, 5, 2}, {1, 0, 3}, {1, 1, 4},  {1, 4, 5},  {1, 5, 6},
                                      {2, 2, 7}, {3, 3, 8}, {4, 0, 9}, {4, 4, 10}, {5, 1, 11}, {5, 3, 12}};
  return build_rows(6, entries);
}

std::vector<std::uint32_t> columns_of(const CsrMatrix& matrix, std::uint64_t row) {
  return {matrix.column.data() + matrix.row_begin[row], matrix.column.data() + matrix.row_begin[row + 1]};
}

std::vector<std::uint64_t> list(const Array<std::uint64_t>& array) {
  return {array.begin(), array.end()};
}

TEST(MatrixPart, HasItsRowsAndTheColumnsOfTheWhole) {
  const CsrMatrix part = part_of(six_rows(), 3, 6);
  EXPECT_EQ(part.rows, 3u);
  EXPECT_EQ(part.all_rows(), 6u);
  EXPECT_EQ(part.first_row, 3u);
  EXPECT_EQ(part.columns, 6u);
  EXPECT_EQ(columns_of(part, 1), (std::vector<std::uint32_t>{0, 4}));
  EXPECT_EQ(part.value[part.row_begin[1]], 9);
  EXPECT_EQ(part_of(six_rows(), 6, 6).nonzeros(), 0u);
}

TEST(MatrixPart, NumbersOwnColumnsFirstAndThenGhostsAscendingInTheOrderOfTheEntries) {
  CsrMatrix low = part_of(six_rows(), 0, 3);
  EXPECT_EQ(list(number_ghosts(low)), (std::vector<std::uint64_t>{4, 5}));
  EXPECT_EQ(low.columns, 5u);
  EXPECT_EQ(columns_of(low, 0), (std::vector<std::uint32_t>{0, 4}));
  EXPECT_EQ(columns_of(low, 1), (std::vector<std::uint32_t>{0, 1, 3, 4}));

  CsrMatrix high = part_of(six_rows(), 3, 6);
  EXPECT_EQ(list(number_ghosts(high)), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(columns_of(high, 1), (std::vector<std::uint32_t>{3, 1}));  // the ghost first, as in the whole matrix
  EXPECT_EQ(columns_of(high, 2), (std::vector<std::uint32_t>{4, 0}));
}

TEST(MatrixPart, AWholeMatrixHasNoGhosts) {
  CsrMatrix whole = six_rows();
  EXPECT_TRUE(number_ghosts(whole).empty());
  EXPECT_EQ(whole.columns, 6u);
  EXPECT_EQ(columns_of(whole, 1), (std::vector<std::uint32_t>{0, 1, 4, 5}));
}

TEST(MatrixPart, FindsTheDiagonalAmongColumnsThatDoNotAscend) {
  CsrMatrix high = part_of(six_rows(), 3, 6);
  number_ghosts(high);
  EXPECT_EQ(diagonal_at(high, 0), 8);
  EXPECT_EQ(diagonal_at(high, 1), 10);
  EXPECT_EQ(diagonal_at(high, 2), std::nullopt);
  EXPECT_EQ(diagonal_at(six_rows(), 4), 10);
}

TEST(MatrixPart, NamesPlacesInTheWhole) {
  const CsrMatrix part = part_of(six_rows(), 3, 6);
  const MatrixPlace entry = MatrixPlace::of_entry(part, part.row_begin[2]);
  EXPECT_EQ(entry.from, 5u);
  EXPECT_EQ(entry.to, 1u);
  EXPECT_EQ(MatrixPlace::of_row(part, 1).from, 4u);
}

TEST(MatrixPart, AsymmetriesOfAllPartsAddUpToThatOfTheWhole) {
  const CsrMatrix symmetric = build_rows(4, {{0, 3, 2}, {3, 0, 2}, {1, 2, 5}, {2, 1, 5}, {1, 1, 1}});
  EXPECT_NE(asymmetry(part_of(symmetric, 0, 2)), 0u);
  EXPECT_EQ(asymmetry(part_of(symmetric, 0, 2)) + asymmetry(part_of(symmetric, 2, 4)), 0u);
  EXPECT_NE(asymmetry(part_of(six_rows(), 0, 2)) + asymmetry(part_of(six_rows(), 2, 6)), 0u);
}

TEST(MatrixPart, OfAGridHasTheRowsOfTheGrid) {
  for (const std::uint32_t side : {1u, 2u, 7u}) {
    const CsrMatrix grid = make_grid(side, Orientation::kRows);
    for (std::uint64_t first = 0; first <= grid.rows; ++first) {
      EXPECT_EQ(grid_links_before(side, first), grid.row_begin[first]);
      for (std::uint64_t last = first; last <= grid.rows; ++last) {
        const CsrMatrix expected = part_of(grid, first, last);
        const CsrMatrix part = make_grid_part(side, Orientation::kRows, first, last);
        ASSERT_TRUE(std::ranges::equal(part.row_begin, expected.row_begin)) << side << " " << first << " " << last;
        ASSERT_TRUE(std::ranges::equal(part.column, expected.column)) << side << " " << first << " " << last;
        ASSERT_EQ(part.all_rows(), grid.rows);
      }
    }
  }
}

/// A part with five blocks. The rows of the blocks in `at_border` read a ghost, and the rows of block 1 also read a row
/// of block 3.
CsrMatrix five_blocks(const std::set<std::uint64_t>& at_border) {
  const std::uint64_t rows = 5 * kBlockRows;
  std::vector<Entry> entries;
  for (const std::uint64_t block : at_border) {
    entries.push_back({block * kBlockRows + 7, rows + 1});
    if (block == 1) entries.push_back({block * kBlockRows + 8, 3 * kBlockRows});
  }
  CsrMatrix part = part_of(build_matrix(rows + kBlockRows, entries, Orientation::kRows, false), 0, rows);
  number_ghosts(part);
  return part;
}

TEST(BlockSets, SeparateTheBlocksThatReadGhosts) {
  const BlockSets sets = find_block_sets(five_blocks({1, 4}));
  EXPECT_EQ(sets.interior, (std::vector<std::uint64_t>{0, 2, 3}));
  EXPECT_EQ(sets.at_border, (std::vector<std::uint64_t>{1, 4}));
  EXPECT_EQ(sets.read, (std::vector<std::uint64_t>{1, 3, 4}));
}

TEST(BlockSets, OfAWholeMatrixAreInterior) {
  const BlockSets sets = find_block_sets(make_grid(50, Orientation::kRows));
  EXPECT_EQ(sets.interior.size(), block_count(2500));
  EXPECT_TRUE(sets.at_border.empty());
  EXPECT_TRUE(sets.read.empty());
}

TEST(BlockParts, OfSomeBlocksCallForEachOfThemOnce) {
  std::vector<std::uint64_t> work(21);
  std::iota(work.begin(), work.end(), 0);
  const std::vector<std::vector<std::uint64_t>> cases = {{}, {0}, {19}, {0, 1, 2, 7, 9, 10, 11, 19}};
  OpenMpTeam threads;
  SingleThread one;
  for (Team* team : {static_cast<Team*>(&threads), static_cast<Team*>(&one)}) {
    for (const std::vector<std::uint64_t>& blocks : cases) {
      const BlockParts parts = BlockParts::of_some(blocks, work, *team);
      EXPECT_EQ(parts.empty(), blocks.empty());
      std::mutex mutex;
      std::multiset<std::uint64_t> called;
      parts.for_each([&](std::uint64_t first, std::uint64_t last) {
        const std::lock_guard lock(mutex);
        for (std::uint64_t block = first; block < last; ++block) called.insert(block);
      });
      EXPECT_EQ(called, std::multiset<std::uint64_t>(blocks.begin(), blocks.end()));
    }
  }
}

}  // namespace
}  // namespace ringside
