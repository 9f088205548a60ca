// SPDX-License-Identifier: BSD-3-Clause
// A matrix in the format in which its rows are multiplied with a vector. It consists of raw pointers and plain structs,
// because kernels must not call code of a header (cmake/isa_variants.cmake). RowLayout
// (producer/kernels/row_layout.hpp) makes these structs.
#pragma once

#include <cstdint>

namespace ringside {

/// The entries of a row with fewer entries are added one after the other, in column order. Longer rows are added up in
/// eight lanes (entry j in lane j modulo 8), so that eight additions are made at a time. Then the lanes are added as
/// ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)). This order, and so every bit, is the same for every layout, instruction
/// set and number of threads. The error is at most (31 or, for m entries, m/8 + 10) * 2^-53 of the sum of the entries'
/// magnitudes.
inline constexpr std::uint32_t kLongRow = 32;

/// Neighbouring rows of one block with equally many entries, whose columns all advance by one from row to row.
struct RowBand {
  std::uint16_t first_row;  // offset into the block
  std::uint16_t rows;
  std::uint32_t entries;  // the number of entries of each row
};

/// Where a block's parts begin in three lists. Each part ends where the next block's part begins.
struct RowBandsBlock {
  std::uint64_t band = 0;
  std::uint64_t band_column = 0;
  std::uint64_t single = 0;
};

/// Where a block's packed rows begin; they end with a `PackedKind::kEnd`.
struct PackedBlock {
  std::uint64_t word = 0;
  std::uint64_t words = 0;  // the number of words
  std::uint64_t value = 0;
};

/// The packed rows of a block are one stream of 32-bit words, read from front to back: groups of rows, each
///
///   kind * 2^16 + number of rows;  entries of each row;  the rows (offsets into the block), two to a word;  then
enum class PackedKind : std::uint32_t {
  kEnd,        // empty: the block ends (one word)
  kEmpty,      // empty: rows without entries
  kShort,      // columns: of four rows at a time entry by entry, then of the remaining rows row by row
  kLong,       // the columns of one row of at least kLongRow entries
  kIntervals,  // of one such row: words with a bit for each eight of its entries, set where their columns are
               // consecutive; then one column or eight for each eight entries, and the remaining columns
  kCopies      // each word has two rows: the first is a copy of the second, so it has the same sum (nothing follows)
};

/// The number of words after the last packed word that may be read; their content does not matter.
inline constexpr std::uint64_t kReadAheadWords = 256;

/// Rows in groups of eight cache lines of doubles. If all rows of a group have the same value (a scale, an entry of the
/// diagonal), a solver reads it once.
inline constexpr std::uint64_t kGroupRows = 64;

/// The value of a group that means: read every row's own value.
inline constexpr double kMixedGroup = 0.0;

/// A matrix in its format. If it has no values, all entries are 1.
struct RowProduct {
  std::uint64_t rows;
  const std::uint64_t* row_begin;    // rows + 1
  const std::uint32_t* column;       // nonzeros
  const double* value;               // nonzeros, or null
  const RowBandsBlock* block;        // blocks + 1; with the next four members: producer/kernels/row_bands.hpp
  const RowBand* band;               // rows in bands
  const std::uint32_t* band_column;  // the columns of each band's first row, band after band
  const double* band_weight;         // the factor of each of these columns in all rows of its band; null: 1
  const std::uint16_t* single;       // rows outside bands, offsets into the block, by ascending number of entries
  const PackedBlock* packed;         // per block: the packed single rows (packed_rows.hpp); if null, `column` has them
  const std::uint32_t* word;
  const double* packed_value;  // in the order of the words' entries, or null
  bool far;                    // whether the vector is larger than the caches, so that its elements are prefetched
};

}  // namespace ringside
