// SPDX-License-Identifier: BSD-3-Clause
// sum[r] = sum over the entries (r, c) of value * x[c], for the rows of one block, in the order of
// producer/kernels/row_product.hpp. This is a part of the kernels that are compiled once per instruction set. The
// results, which are 8 kB, stay in the first-level cache for the solver's own half of the iteration.
//
// What a row with m entries costs, and its bytes from memory (without the block's x, of which each cache line is read
// once):
//   in a band        m loads and m additions, an eighth of an instruction each with AVX-512; nothing of the matrix
//   packed          two instructions an entry, one where its row is long, a quarter where columns are consecutive too;
//                   2 B and a share of 8, 4 B an entry (1/2 B where consecutive), 8 B a value; a copy 4 B in all
//   as in a matrix  two instructions an entry and some twenty a row; 10 B, 4 B an entry, 8 B a value
#pragma once

#include "producer/kernels/block_kernel.hpp"
#include "producer/kernels/block_rows.hpp"
#include "producer/kernels/row_product.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

inline std::uint64_t rows_of_block(std::uint64_t rows, std::uint64_t block) noexcept {
  const std::uint64_t rows_left = rows - block * kBlockRows;
  return rows_left < kBlockRows ? rows_left : kBlockRows;
}

/// Eight running sums of one long row.
struct LongRow {
  Register lanes[kParts] = {};

  /// Adds eight entries, in the order of the row.
  template <bool kValues>
  void add_eight(const std::uint32_t* column, const double* value, const double* x) noexcept {
    for (int part = 0; part < kParts; ++part) {
      const std::uint32_t* c = column + part * kWidth;
#if defined(__AVX512F__)
      const Register from = {x[c[0]], x[c[1]], x[c[2]], x[c[3]], x[c[4]], x[c[5]], x[c[6]], x[c[7]]};
#elif defined(__AVX__)
      const Register from = {x[c[0]], x[c[1]], x[c[2]], x[c[3]]};
#else
      const Register from = {x[c[0]], x[c[1]]};
#endif
      lanes[part] += kValues ? load(value + part * kWidth) * from : from;
    }
  }
  template <bool kValues>
  void add_consecutive(const double* value, const double* x) noexcept {
    for (int part = 0; part < kParts; ++part) {
      const Register from = load(x + part * kWidth);
      lanes[part] += kValues ? load(value + part * kWidth) * from : from;
    }
  }
  /// The row's sum, including its last `count` entries, which are fewer than eight.
  template <bool kValues>
  double sum(const std::uint32_t* column, const double* value, std::uint32_t count, const double* x) const noexcept {
    double left[kLanes] = {};
    for (std::uint32_t i = 0; i < count; ++i) left[i] = kValues ? value[i] * x[column[i]] : x[column[i]];
    Register all[kParts];
    for (int part = 0; part < kParts; ++part) all[part] = lanes[part] + load(left + part * kWidth);
    return sum_of_lanes(all);
  }
};

// Columns are prefetched 1 kB ahead. (Measured: 1/2 and 2 kB give the same time, 4 kB is slower.)
constexpr std::uint64_t kColumnsAhead = 256;
constexpr std::uint32_t kColumnsInLine = 16;

// kFar: x is larger than the caches, and its elements are prefetched this many entries ahead. A core has some hundred
// instructions in flight. Without prefetches it waits for nine or ten such elements at a time, although fifty are
// possible. (Relative times measured on rmat:22: 1.00 without prefetches, 0.95 with 32 entries, 0.75 with 96 to 256
// entries.)
constexpr std::uint64_t kEntriesAhead = 128;
static_assert(kEntriesAhead + kLanes <= kReadAheadWords);

// The columns are followed by the heads and columns of other groups. Prefetches of these are useless but harmless.
template <bool kFar>
inline void fetch(const double* x, const std::uint32_t* column, std::uint32_t count) noexcept {
  if constexpr (kFar) {
    for (std::uint32_t i = 0; i < count; ++i) prefetch(x, column[kEntriesAhead + i]);
  }
}

template <bool kValues, bool kFar>
inline double sum_long_row(const std::uint32_t* column, const double* value, std::uint64_t entries,
                           const double* x) noexcept {
  LongRow row;
  std::uint64_t e = 0;
  for (; e + kLanes <= entries; e += kLanes) {
    prefetch(column, e + kColumnsAhead);
    fetch<kFar>(x, column + e, kLanes);
    row.add_eight<kValues>(column + e, kValues ? value + e : nullptr, x);
  }
  return row.sum<kValues>(column + e, kValues ? value + e : nullptr, static_cast<std::uint32_t>(entries - e), x);
}

template <bool kValues>
inline double sum_row(const std::uint32_t* column, const double* value, std::uint64_t entries,
                      const double* x) noexcept {
  if (entries >= kLongRow) return sum_long_row<kValues, false>(column, value, entries, x);
  double sum = 0;
  for (std::uint64_t e = 0; e < entries; ++e) sum += kValues ? value[e] * x[column[e]] : x[column[e]];
  return sum;
}

// ---- Bands ----

// 4 kB ahead: this is so far that the cache line arrives in time, and so near that it stays in the second-level cache
// (also measured: 1, 2, 8 kB).
constexpr std::uint64_t kPrefetchAhead = 512;

// Sums rows offset .. offset + 8 * kVectors - 1 of a band. column: the columns of its first row. All entries of a row
// are added in one lane.
template <int kVectors>
inline void sum_tile(const double* x, const std::uint32_t* column, std::uint32_t entries, std::uint64_t offset,
                     double* sum) noexcept {
  constexpr int kRegisters = kVectors * kParts;
  Register total[std::size_t{kRegisters}] = {};
  for (std::uint32_t j = 0; j < entries; ++j) {
    const double* from = x + column[j] + offset;
    for (int r = 0; r < kRegisters; ++r) total[r] += load(from + r * kWidth);
  }
  for (int r = 0; r < kRegisters; ++r) store<false>(sum + offset + r * kWidth, total[r]);
}

// Sums rows offset .. offset + 7 of a band of long rows, with eight running sums for each.
inline void sum_tile_of_long_rows(const double* x, const std::uint32_t* column, std::uint32_t entries,
                                  std::uint64_t offset, double* sum) noexcept {
  for (std::uint64_t row = offset; row < offset + kLanes; row += kWidth) {
    Register lanes[kLanes] = {};
    for (std::uint32_t j = 0; j < entries; j += kLanes) {
      for (std::uint32_t i = 0; i < kLanes; ++i) {
        if (j + i < entries) lanes[i] += load(x + column[j + i] + row);
      }
    }
    store<false>(sum + row,
                 ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7])));
  }
}

// own: the vector that the solver's half of the iteration reads next, from the band's first row on. It is prefetched
// here, because otherwise the solver's half would wait for it.
template <int kVectors, class Tile>
inline void sum_tiles(const Tile& tile, const double* x, const std::uint32_t* column, RowBand band, const double* own,
                      double* sum) noexcept {
  constexpr std::uint64_t kTileRows = kLanes * kVectors;
  for (std::uint64_t row = 0; row + kTileRows <= band.rows; row += kTileRows) {
    for (std::uint64_t v = 0; v < kVectors; ++v) {
      prefetch(own, row + v * kLanes);
      if (band.entries > 0) prefetch(x + column[band.entries - 1], row + v * kLanes + kPrefetchAhead);
    }
    tile(x, column, band.entries, row, sum);
  }
  // The remaining rows are summed together with some rows that were summed before; the same additions give the same
  // sums again.
  if (band.rows % kTileRows != 0) tile(x, column, band.entries, band.rows - kTileRows, sum);
}

inline void sum_band(const double* x, const std::uint32_t* column, RowBand band, const double* own,
                     double* sum) noexcept {
  constexpr int kVectors = 4;  // four chains of additions hide their latency, and fit sixteen SSE2 registers
  if (band.rows < kLanes) {
    for (std::uint32_t row = 0; row < band.rows; ++row)
      sum[row] = sum_row<false>(column, nullptr, band.entries, x + row);
  } else if (band.entries >= kLongRow) {
    sum_tiles<1>(sum_tile_of_long_rows, x, column, band, own, sum);
  } else if (band.rows >= kVectors * kLanes) {
    sum_tiles<kVectors>(sum_tile<kVectors>, x, column, band, own, sum);
  } else {
    sum_tiles<1>(sum_tile<1>, x, column, band, own, sum);
  }
}

// ---- Packed rows ----

using RowOffset __attribute__((may_alias)) = std::uint16_t;  // two to a word

// Sums rows that have equally many, but few, entries: first in four parallel chains of additions, then row by row.
template <bool kValues, bool kFar>
inline void sum_short_rows(const std::uint32_t* column, const double* value, std::uint32_t entries,
                           const std::uint16_t* row, std::uint32_t rows, const double* x, double* sum) noexcept {
  std::uint32_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    for (std::uint32_t w = 0; w < 4 * entries; w += kColumnsInLine) prefetch(column, kColumnsAhead + w);
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (std::uint32_t e = 0; e < entries; ++e, column += 4) {
      fetch<kFar>(x, column, 4);
      if constexpr (kValues) {
        s0 += value[0] * x[column[0]];
        s1 += value[1] * x[column[1]];
        s2 += value[2] * x[column[2]];
        s3 += value[3] * x[column[3]];
        value += 4;
      } else {
        s0 += x[column[0]];
        s1 += x[column[1]];
        s2 += x[column[2]];
        s3 += x[column[3]];
      }
    }
    sum[row[i]] = s0;
    sum[row[i + 1]] = s1;
    sum[row[i + 2]] = s2;
    sum[row[i + 3]] = s3;
  }
  for (; i < rows; ++i, column += entries) {
    double s = 0;
    for (std::uint32_t e = 0; e < entries; ++e) s += kValues ? value[e] * x[column[e]] : x[column[e]];
    if constexpr (kValues) value += entries;
    sum[row[i]] = s;
  }
}

// Returns the end of the row's words.
template <bool kValues>
inline const std::uint32_t* sum_row_of_intervals(const std::uint32_t* word, const double* value, std::uint32_t entries,
                                                 const double* x, double* sum) noexcept {
  constexpr std::uint32_t kBits = 32;
  const std::uint32_t eights = entries / kLanes;
  const std::uint32_t* bits = word;
  word += (eights + kBits - 1) / kBits;
  LongRow row;
  for (std::uint32_t i = 0; i < eights; ++i) {
    if ((bits[i / kBits] >> i % kBits & 1) != 0) {
      row.add_consecutive<kValues>(value, x + *word);
      word += 1;
    } else {
      row.add_eight<kValues>(word, value, x);
      word += kLanes;
    }
    if constexpr (kValues) value += kLanes;
  }
  *sum = row.sum<kValues>(word, value, entries % kLanes, x);
  return word + entries % kLanes;
}

template <bool kValues, bool kFar>
inline void sum_packed_rows(const std::uint32_t* word, const double* value, const double* x, double* sum) noexcept {
  for (;;) {
    const auto kind = static_cast<PackedKind>(*word >> 16);
    if (kind == PackedKind::kEnd) return;
    const std::uint32_t rows = *word & 0xffff;
    const std::uint32_t entries = word[1];
    word += 2;
    const auto* row = reinterpret_cast<const RowOffset*>(word);
    if (kind == PackedKind::kCopies) {
      for (std::uint32_t i = 0; i < rows; ++i) sum[row[2 * i]] = sum[row[2 * i + 1]];
      word += rows;
      continue;
    }
    word += (rows + 1) / 2;
    switch (kind) {
      case PackedKind::kEmpty:
        for (std::uint32_t i = 0; i < rows; ++i) sum[row[i]] = 0;
        break;
      case PackedKind::kShort:
        sum_short_rows<kValues, kFar>(word, value, entries, row, rows, x, sum);
        word += rows * entries;
        break;
      case PackedKind::kLong:
        sum[row[0]] = sum_long_row<kValues, kFar>(word, value, entries, x);
        word += entries;
        break;
      case PackedKind::kIntervals: word = sum_row_of_intervals<kValues>(word, value, entries, x, sum + row[0]); break;
      default: break;
    }
    if constexpr (kValues) value += std::uint64_t{rows} * entries;
  }
}

// ---- Rows as the matrix stores them ----

// Sums four rows at a time, in four parallel chains of additions. Rows are in order of their number of entries, so the
// rows of most groups of four end together, and the processor predicts where they end. But in this order, the block's
// columns are read out of order. Therefore some cache lines of the next block's columns are prefetched with each group
// of four (measured: 1.2 to 1.4 times as fast).
template <bool kValues>
inline void sum_single_rows(const RowProduct& product, std::uint64_t block, const double* x, double* sum) noexcept {
  const std::uint16_t* single = product.single + product.block[block].single;
  const std::uint64_t count = product.block[block + 1].single - product.block[block].single;
  if (count == 0) return;  // all rows are in bands: the matrix may have released its rows
  const std::uint64_t first_row = block * kBlockRows;
  const std::uint32_t* next_columns = nullptr;
  std::uint64_t lines_with_each_four = 0;
  if (first_row + kBlockRows < product.rows && count >= 4) {
    const std::uint64_t* next_block = product.row_begin + first_row + kBlockRows;
    next_columns = product.column + next_block[0];
    const std::uint64_t columns = next_block[rows_of_block(product.rows, block + 1)] - next_block[0];
    lines_with_each_four = (columns / (count / 4) + kColumnsInLine - 1) / kColumnsInLine;
  }
  const std::uint64_t* begin = product.row_begin + first_row;
  const auto row_sum = [&](std::uint16_t row) {
    return sum_row<kValues>(product.column + begin[row], kValues ? product.value + begin[row] : nullptr,
                            begin[row + 1] - begin[row], x);
  };
  // Adds the entries of a row from index `first` on to `total`.
  const auto add_rest = [&](std::uint16_t row, std::uint64_t first, double total) {
    for (std::uint64_t e = begin[row] + first; e < begin[row + 1]; ++e) {
      total += kValues ? product.value[e] * x[product.column[e]] : x[product.column[e]];
    }
    return total;
  };
  std::uint64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const std::uint16_t r0 = single[i], r1 = single[i + 1], r2 = single[i + 2], r3 = single[i + 3];
    const std::uint64_t b0 = begin[r0], b1 = begin[r1], b2 = begin[r2], b3 = begin[r3];
    const std::uint64_t shortest = begin[r0 + 1] - b0;
    const std::uint64_t longest = begin[r3 + 1] - b3;
    for (std::uint64_t line = 0; line < lines_with_each_four; ++line) {
      prefetch(next_columns, (i / 4 * lines_with_each_four + line) * kColumnsInLine);
    }
    if (longest >= kLongRow) {
      for (std::uint64_t j = i; j < i + 4; ++j) sum[single[j]] = row_sum(single[j]);
      continue;
    }
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    const std::uint32_t *c0 = product.column + b0, *c1 = product.column + b1, *c2 = product.column + b2,
                        *c3 = product.column + b3;
    for (std::uint64_t e = 0; e < shortest; ++e) {
      if constexpr (kValues) {
        s0 += product.value[b0 + e] * x[c0[e]];
        s1 += product.value[b1 + e] * x[c1[e]];
        s2 += product.value[b2 + e] * x[c2[e]];
        s3 += product.value[b3 + e] * x[c3[e]];
      } else {
        s0 += x[c0[e]];
        s1 += x[c1[e]];
        s2 += x[c2[e]];
        s3 += x[c3[e]];
      }
    }
    sum[r0] = s0;
    sum[r1] = longest == shortest ? s1 : add_rest(r1, shortest, s1);
    sum[r2] = longest == shortest ? s2 : add_rest(r2, shortest, s2);
    sum[r3] = longest == shortest ? s3 : add_rest(r3, shortest, s3);
  }
  for (; i < count; ++i) sum[single[i]] = row_sum(single[i]);
}

// ---- A block ----

/// own: a vector as long as x, of which the caller reads the block's rows next.
inline void sum_block(const RowProduct& product, std::uint64_t block, const double* x, const double* own,
                      double* sum) noexcept {
  const std::uint64_t first_row = block * kBlockRows;
  const RowBandsBlock& begin = product.block[block];
  const std::uint32_t* column = product.band_column + begin.band_column;
  for (std::uint64_t r = begin.band; r < product.block[block + 1].band; ++r) {
    const RowBand band = product.band[r];
    sum_band(x, column, band, own + first_row + band.first_row, sum + band.first_row);
    column += band.entries;
  }
  if (product.packed != nullptr) {
    const PackedBlock& packed = product.packed[block];
    if (product.packed_value != nullptr) {
      const double* value = product.packed_value + packed.value;
      product.far ? sum_packed_rows<true, true>(product.word + packed.word, value, x, sum)
                  : sum_packed_rows<true, false>(product.word + packed.word, value, x, sum);
    } else {
      product.far ? sum_packed_rows<false, true>(product.word + packed.word, nullptr, x, sum)
                  : sum_packed_rows<false, false>(product.word + packed.word, nullptr, x, sum);
    }
  } else if (product.value != nullptr) {
    sum_single_rows<true>(product, block, x, sum);
  } else {
    sum_single_rows<false>(product, block, x, sum);
  }
}

}  // namespace
}  // namespace ringside::RINGSIDE_ISA
