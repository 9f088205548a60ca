// SPDX-License-Identifier: BSD-3-Clause
// The sums of packed rows (producer/kernels/packed_rows.hpp). Instructions: two an entry, one if its row is long, a
// quarter if columns are consecutive, too. Bytes from memory: 2 and a share of 8 a row; 4 an entry, or 1/2 if columns
// are consecutive; 8 a value; and 4 in all for a row that is a copy. (x is in the cache, or `kFar`.)
#pragma once

#include "producer/kernels/row_product.hpp"
#include "producer/kernels/row_sum_kernel.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

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

}  // namespace
}  // namespace ringside::RINGSIDE_ISA
