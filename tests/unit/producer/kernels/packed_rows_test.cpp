// SPDX-License-Identifier: BSD-3-Clause
// Packed rows are unpacked again by an independent reader, and compared with the matrix.
#include "producer/kernels/packed_rows.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "producer/kernels/block_rows.hpp"
#include "tests/reference/small_matrix.hpp"
#include "tests/unit/producer/openmp_threads.hpp"

namespace ringside {
namespace {

using namespace reference;

struct Row {
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
  int times = 0;  // the number of times that the stream contains the row
};

/// Reads one block's stream as producer/kernels/row_product.hpp describes it.
class Unpacker {
 public:
  Unpacker(const PackedRows& packed, std::uint64_t block, Row* rows)
      : word_(packed.word.data() + packed.block[block].word),
        end_(word_ + packed.block[block].words),
        value_(packed.value.empty() ? nullptr : packed.value.data() + packed.block[block].value),
        rows_(rows) {}

  void unpack() {
    for (;;) {
      const std::uint32_t head = *word_++;
      const auto kind = static_cast<PackedKind>(head >> 16);
      if (kind == PackedKind::kEnd) break;
      const std::uint32_t entries = *word_++;
      ++groups[static_cast<std::size_t>(kind)];
      read_group(kind, head & 0xffff, entries);
    }
    EXPECT_EQ(word_, end_);
  }

  int groups[6] = {};  // groups of each kind

 private:
  std::vector<std::uint16_t> read_rows(std::uint32_t count) {
    std::vector<std::uint16_t> rows(count);
    std::memcpy(rows.data(), word_, count * sizeof(std::uint16_t));
    word_ += (count + 1) / 2;
    return rows;
  }
  void read_entry(Row& row) {
    row.columns.push_back(*word_++);
    if (value_ != nullptr) row.values.push_back(*value_++);
  }

  void read_group(PackedKind kind, std::uint32_t count, std::uint32_t entries) {
    if (kind == PackedKind::kCopies) {
      const auto pairs = read_rows(2 * count);
      for (std::size_t i = 0; i < pairs.size(); i += 2) {
        rows_[pairs[i]].columns = rows_[pairs[i + 1]].columns;
        ++rows_[pairs[i]].times;
      }
      return;
    }
    const auto rows = read_rows(count);
    for (const std::uint16_t row : rows) ++rows_[row].times;
    if (kind == PackedKind::kIntervals) {
      const std::uint32_t eights = entries / 8;
      const std::uint32_t* bits = word_;
      word_ += (eights + 31) / 32;
      for (std::uint32_t i = 0; i < eights; ++i) {
        const bool consecutive = (bits[i / 32] >> i % 32 & 1) != 0;
        for (std::uint32_t j = 0; j < 8; ++j) {
          rows_[rows[0]].columns.push_back(consecutive ? *word_ + j : *word_++);
          if (value_ != nullptr) rows_[rows[0]].values.push_back(*value_++);
        }
        if (consecutive) ++word_;
      }
      entries %= 8;
    }
    std::size_t row = 0;
    for (; row + 4 <= rows.size(); row += 4) {
      for (std::uint32_t e = 0; e < entries; ++e) {
        for (std::size_t i = row; i < row + 4; ++i) read_entry(rows_[rows[i]]);
      }
    }
    for (; row < rows.size(); ++row) {
      for (std::uint32_t e = 0; e < entries; ++e) read_entry(rows_[rows[row]]);
    }
  }

  const std::uint32_t* word_;
  const std::uint32_t* end_;
  const double* value_;
  Row* rows_;
};

/// Compares all rows; returns the number of groups of each kind.
std::vector<int> expect_unpacks(const CsrMatrix& matrix, const std::vector<std::uint32_t>& place = {}) {
  const RowBands bands = find_row_bands(matrix, false);
  const PackedRows packed = pack_rows(matrix, bands, place.empty() ? nullptr : place.data());
  std::vector<Row> rows(block_count(matrix.rows) * kBlockRows);
  std::vector<int> groups(6);
  for (std::uint64_t block = 0; block < block_count(matrix.rows); ++block) {
    Unpacker unpacker(packed, block, rows.data() + block * kBlockRows);
    unpacker.unpack();
    for (std::size_t kind = 0; kind < 6; ++kind) groups[kind] += unpacker.groups[kind];
  }
  for (std::uint64_t row = 0; row < matrix.rows; ++row) {
    EXPECT_EQ(rows[row].times, 1) << "row " << row;
    std::vector<std::uint32_t> columns;
    std::vector<double> values;
    for (std::uint64_t e = matrix.row_begin[row]; e < matrix.row_begin[row + 1]; ++e) {
      columns.push_back(place.empty() ? matrix.column[e] : place[matrix.column[e]]);
      if (!matrix.value.empty()) values.push_back(matrix.value[e]);
    }
    EXPECT_EQ(rows[row].columns, columns) << "row " << row;
    EXPECT_EQ(rows[row].values, values) << "row " << row;
  }
  return groups;
}

TEST(PackedRows, HoldEveryEntryOfEveryRowOnce) {
  expect_unpacks(build_graph(1, {}));
  expect_unpacks(build_graph(2047, {}));
  expect_unpacks(build_graph(1500, random_links(1500, 9000, 1)));
  expect_unpacks(build_weighted_graph(1500, random_links(1500, 9000, 2)));
  expect_unpacks(build_graph(40 * 40, grid_links(40)));
  expect_unpacks(build_graph(3000, with_hub(band_links(3000, {-2, 1}), 3000, 7)));
}

TEST(PackedRows, NameIntervalsAndCopiesInsteadOfTheirEntries) {
  const CsrMatrix site = build_graph(3000, site_links(3000, 3));
  const auto groups = expect_unpacks(site);
  for (const PackedKind kind : {PackedKind::kShort, PackedKind::kLong, PackedKind::kIntervals, PackedKind::kCopies}) {
    EXPECT_GT(groups[static_cast<std::size_t>(kind)], 0) << static_cast<int>(kind);
  }
  const PackedRows packed = pack_rows(site, find_row_bands(site, false), nullptr);
  std::uint64_t words = 0;
  for (const PackedBlock& block : packed.block) words += block.words;
  EXPECT_LT(words, site.nonzeros() * 3 / 4);
}

TEST(PackedRows, RowsOfAMatrixWithValuesAreNeverTakenForCopies) {
  auto links = site_links(1200, 4);
  for (std::size_t i = 0; i < links.size(); ++i) links[i].value = static_cast<double>(i);
  const auto groups = expect_unpacks(build_weighted_graph(1200, links));
  EXPECT_EQ(groups[static_cast<std::size_t>(PackedKind::kCopies)], 0);
  EXPECT_GT(groups[static_cast<std::size_t>(PackedKind::kIntervals)], 0);
}

TEST(PackedRows, NameThePlacesOfTheirColumns) {
  std::vector<std::uint32_t> place(2500);
  std::iota(place.begin(), place.end(), 0u);
  std::shuffle(place.begin(), place.end(), std::mt19937_64(5));
  expect_unpacks(build_graph(2500, site_links(2500, 5)), place);
}

TEST(PackedRows, WhatIsPackedDoesNotDependOnTheNumberOfThreads) {
  const CsrMatrix site = build_graph(9000, site_links(9000, 6));
  const RowBands bands = find_row_bands(site);
  const testing::OpenMpThreads restored;
  const auto blocks_with = [&](int threads) {
    omp_set_num_threads(threads);
    const PackedRows packed = pack_rows(site, bands, nullptr);
    std::vector<std::vector<std::uint32_t>> blocks;
    for (const PackedBlock& block : packed.block) {
      blocks.emplace_back(packed.word.data() + block.word, packed.word.data() + block.word + block.words);
    }
    return blocks;
  };
  const auto one = blocks_with(1);
  EXPECT_EQ(blocks_with(4), one);
}

}  // namespace
}  // namespace ringside
