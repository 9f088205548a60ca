// SPDX-License-Identifier: BSD-3-Clause
// The product of a block's rows with a vector, in the order of producer/kernels/row_product.hpp. The sums are passed to
// the solver's own half of the iteration, which finishes eight rows at a time:
//
//   struct Finish {
//     /// Takes the sums of the rows row .. row + 7 of the block, in kParts registers. row: a multiple of eight.
//     void eight(std::uint64_t row, const Register* sum) noexcept;
//     /// Takes the sum of a row after the last whole eight of the matrix.
//     void one(std::uint64_t row, double sum) noexcept;
//   };
//
// Rows come in ascending order. If a block consists of bands only, their sums are passed on in registers
// (row_bands_kernel.hpp). Otherwise the sums of the whole block, 8 kB, are first written to the first-level cache.
//
// Rows that are neither in bands nor packed take two instructions an entry and some twenty a row; and 10 B a row, 4 B
// an entry and 8 B a value from memory.
#pragma once

#include "producer/kernels/block_kernel.hpp"
#include "producer/kernels/block_rows.hpp"
#include "producer/kernels/packed_rows_kernel.hpp"
#include "producer/kernels/row_bands_kernel.hpp"
#include "producer/kernels/row_product.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

inline std::uint64_t rows_of_block(std::uint64_t rows, std::uint64_t block) noexcept {
  const std::uint64_t rows_left = rows - block * kBlockRows;
  return rows_left < kBlockRows ? rows_left : kBlockRows;
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

/// Writes the sums of the block's rows to `sum`, which has kBlockRows doubles. own: a vector of all rows, of which the
/// caller reads this block's rows next. It is only prefetched here.
inline void sum_block(const RowProduct& product, std::uint64_t block, const double* x, const double* own,
                      double* sum) noexcept {
  const double* const of_block = own + block * kBlockRows;
  product.band_weight != nullptr ? sum_bands<true>(product, block, x, of_block, sum)
                                 : sum_bands<false>(product, block, x, of_block, sum);
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

/// Multiplies the block's rows with x, and passes the sums to `finish`. own: as in sum_block.
template <class Finish>
inline void multiply_block(const RowProduct& product, std::uint64_t block, const double* x, const double* own,
                           Finish& finish) noexcept {
  if (product.block[block].single == product.block[block + 1].single) {
    const double* const of_block = own + block * kBlockRows;
    product.band_weight != nullptr ? finish_bands<true>(product, block, x, of_block, finish)
                                   : finish_bands<false>(product, block, x, of_block, finish);
    return;
  }
  alignas(64) double sum[kBlockRows];
  sum_block(product, block, x, own, sum);
  const std::uint64_t rows = rows_of_block(product.rows, block);
  std::uint64_t row = 0;
  for (; row + kLanes <= rows; row += kLanes) {
    Register eight[kParts];
    for (int part = 0; part < kParts; ++part) eight[part] = load(sum + row + static_cast<std::uint64_t>(part * kWidth));
    finish.eight(row, eight);
  }
  for (; row < rows; ++row) finish.one(row, sum[row]);
}

}  // namespace
}  // namespace ringside::RINGSIDE_ISA
