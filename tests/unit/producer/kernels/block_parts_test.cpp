// SPDX-License-Identifier: BSD-3-Clause
#include "producer/kernels/block_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ringside {
namespace {

std::vector<std::uint64_t> row_begin_of(const std::vector<std::uint64_t>& entries) {
  std::vector<std::uint64_t> begin = {0};
  for (const std::uint64_t count : entries) begin.push_back(begin.back() + count);
  return begin;
}

TEST(RowPartition, CoversEveryBlockOnceForAnyNumberOfParts) {
  for (const std::uint64_t rows : {0ul, 1ul, 1023ul, 1024ul, 1025ul, 50'000ul}) {
    const auto begin = row_begin_of(std::vector<std::uint64_t>(rows, 3));
    for (const int parts : {1, 2, 3, 7, 100}) {
      const auto border = partition_blocks(begin, parts);
      ASSERT_EQ(border.size(), static_cast<std::size_t>(parts) + 1);
      EXPECT_EQ(border.front(), 0u);
      EXPECT_EQ(border.back(), block_count(rows));
      EXPECT_TRUE(std::is_sorted(border.begin(), border.end()));
    }
  }
}

TEST(RowPartition, SharesEqualRowsEqually) {
  const auto begin = row_begin_of(std::vector<std::uint64_t>(40 * kBlockRows, 8));
  EXPECT_EQ(partition_blocks(begin, 4), (std::vector<std::uint64_t>{0, 10, 20, 30, 40}));
}

TEST(RowPartition, GivesLongRowsToFewerBlocks) {
  std::vector<std::uint64_t> entries(20 * kBlockRows, 2);
  std::fill(entries.begin(), entries.begin() + 2 * kBlockRows, 82);  // 2 * (82 + 8) = 18 * (2 + 8)
  EXPECT_EQ(partition_blocks(row_begin_of(entries), 2), (std::vector<std::uint64_t>{0, 2, 20}));
}

TEST(RowPartition, CountsRowsWithoutEntriesAsWork) {
  const auto begin = row_begin_of(std::vector<std::uint64_t>(8 * kBlockRows, 0));
  EXPECT_EQ(partition_blocks(begin, 2), (std::vector<std::uint64_t>{0, 4, 8}));
}

TEST(RowPartition, CountsBeyondTwoToThe32Entries) {
  constexpr std::uint64_t kLong = 3'000'000;  // 8 blocks of such rows have 2.5e10 entries
  const auto begin = row_begin_of(std::vector<std::uint64_t>(8 * kBlockRows, kLong));
  EXPECT_EQ(partition_blocks(begin, 4), (std::vector<std::uint64_t>{0, 2, 4, 6, 8}));
}

TEST(RowPartition, SharesGivenWorkWhateverTheRows) {
  EXPECT_EQ(partition_work(std::vector<std::uint64_t>{0, 90, 95, 100, 105, 180}, 2),
            (std::vector<std::uint64_t>{0, 1, 5}));
  EXPECT_EQ(partition_work(std::vector<std::uint64_t>{0}, 3), (std::vector<std::uint64_t>{0, 0, 0, 0}));
}

TEST(RowPartition, NoPartIsMoreThanABlockAwayFromItsShare) {
  std::vector<std::uint64_t> entries;
  for (std::uint64_t row = 0; row < 100 * kBlockRows; ++row) entries.push_back(row * 37 % 23);
  const auto begin = row_begin_of(entries);
  const auto border = partition_blocks(begin, 6);
  const auto work = [&](std::uint64_t block) { return begin[block * kBlockRows] + 8 * block * kBlockRows; };
  for (std::size_t part = 1; part < 6; ++part) {
    const double share = static_cast<double>(work(100)) * static_cast<double>(part) / 6;
    EXPECT_LE(std::abs(static_cast<double>(work(border[part])) - share), kBlockRows * (8.0 + 22.0) / 2);
  }
}

}  // namespace
}  // namespace ringside
