// SPDX-License-Identifier: BSD-3-Clause
// The sums of the rows of bands (producer/kernels/row_bands.hpp), as vectors of neighbouring rows. An entry takes one
// load, one addition and, if it has a weight, one multiplication for each register of rows. From memory, a band reads
// only x: each cache line once.
//
// If a block consists of bands only, its sums never go to memory: a *tile* of some lines of eight rows is summed in
// registers and passed to the solver's `Finish` (producer/kernels/row_product_kernel.hpp) at once.
#pragma once

#include "producer/kernels/row_product.hpp"
#include "producer/kernels/row_sum_kernel.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

// A tile takes eight registers: enough chains of additions to hide their latency, and few enough to leave registers for
// the solver's own sums.
constexpr int kTileLines = 8 / kParts;
constexpr std::uint64_t kTileRows = kTileLines * kLanes;

// 8 kB ahead: so far that the cache line arrives in time, and so near that it stays in the second-level cache. The
// hardware's prefetcher stops at the end of each page of 4 kB. (Measured on Zen 3, grid:2000, ms: without prefetch 3.9,
// 4 kB 3.5, 8 and 16 kB 3.3 to 3.7.)
constexpr std::uint64_t kPrefetchAhead = 1024;

/// The entries of a band's rows: the columns of its first row and, with kWeighted, the weight of each entry.
template <bool kWeighted>
struct BandEntries {
  const std::uint32_t* column;
  const double* weight;
  std::uint32_t count;

  /// The term of entry j in kWidth rows. x: the element that the entry multiplies in the first of these rows.
  Register term(std::uint32_t j, const double* x) const noexcept { return kWeighted ? weight[j] * load(x) : load(x); }
};

// Sums kLines lines of eight rows. x: the vector, from the element that column 0 would have in the first row. All
// entries of a row are added in one lane.
template <int kLines, bool kWeighted>
[[gnu::always_inline]] inline void sum_tile(const BandEntries<kWeighted>& entries, const double* x,
                                            Register* total) noexcept {
  constexpr int kRegisters = kLines * kParts;
  for (int r = 0; r < kRegisters; ++r) total[r] = Register{};
  for (std::uint32_t j = 0; j < entries.count; ++j) {
    const double* from = x + entries.column[j];
    asm("" : "+r"(from));  // else GCC computes the address of each register anew
    for (int r = 0; r < kRegisters; ++r) total[r] += entries.term(j, from + r * kWidth);
  }
}

// Sums one line of eight rows with at least kLongRow entries, with eight running sums for each row.
template <bool kWeighted>
inline void sum_line_of_long_rows(const BandEntries<kWeighted>& entries, const double* x, Register* total) noexcept {
  for (int part = 0; part < kParts; ++part, x += kWidth) {
    Register lanes[kLanes] = {};
    for (std::uint32_t j = 0; j < entries.count; j += kLanes) {
      for (std::uint32_t i = 0; i < kLanes; ++i) {
        if (j + i < entries.count) lanes[i] += entries.term(j + i, x + entries.column[j + i]);
      }
    }
    total[part] = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  }
}

template <bool kWeighted>
inline void sum_line(const BandEntries<kWeighted>& entries, const double* x, Register* total) noexcept {
  entries.count >= kLongRow ? sum_line_of_long_rows(entries, x, total) : sum_tile<1>(entries, x, total);
}

// Sums rows [first, last) of a band, at most eight, one to a double. If the band has eight rows, a whole line is
// summed, which may include other rows: the same additions give the same sums again.
template <bool kWeighted>
inline void sum_few_rows(const BandEntries<kWeighted>& entries, std::uint64_t rows, std::uint64_t first,
                         std::uint64_t last, const double* x, double* sum) noexcept {
  if (first == last) return;
  if (rows < kLanes) {
    for (std::uint64_t row = first; row < last; ++row) {
      *sum++ = sum_row<kWeighted>(entries.column, entries.weight, entries.count, x + row);
    }
    return;
  }
  const std::uint64_t line = first + kLanes <= rows ? first : rows - kLanes;
  Register total[kParts];
  sum_line(entries, x + line, total);
  for (std::uint64_t row = first; row < last; ++row) *sum++ = lane(total, static_cast<int>(row - line));
}

/// Calls work(row, total) for each tile, then for each line, of the rows [row, last) of a band: `total` has the sums of
/// the rows row .. row + 7 (of each line of the tile). Returns the first row that is left. own: the vector that `work`
/// reads, from the band's first row on. It is prefetched here, because otherwise `work` would wait for it.
template <bool kWeighted, class Work>
[[gnu::always_inline]] inline std::uint64_t for_each_line(const BandEntries<kWeighted>& entries, std::uint64_t row,
                                                          std::uint64_t last, const double* x, const double* own,
                                                          const Work& work) noexcept {
  if (entries.count < kLongRow) {
    const double* const last_read = entries.count > 0 ? x + entries.column[entries.count - 1] : x;
    for (; row + kTileRows <= last; row += kTileRows) {
      for (std::uint64_t line = row; line < row + kTileRows; line += kLanes) {
        prefetch(own, line);
        prefetch(last_read, line + kPrefetchAhead);
      }
      Register total[static_cast<std::size_t>(kTileLines * kParts)];
      sum_tile<kTileLines>(entries, x + row, total);
      for (int line = 0; line < kTileLines; ++line) {
        work(row + static_cast<std::uint64_t>(line * kLanes), total + line * kParts);
      }
    }
  }
  for (; row + kLanes <= last; row += kLanes) {
    Register total[kParts];
    sum_line(entries, x + row, total);
    work(row, total);
  }
  return row;
}

/// Calls work(band, entries) for each band of a block.
template <bool kWeighted, class Work>
[[gnu::always_inline]] inline void for_each_band(const RowProduct& product, std::uint64_t block,
                                                 const Work& work) noexcept {
  const RowBandsBlock& begin = product.block[block];
  BandEntries<kWeighted> entries{product.band_column + begin.band_column,
                                 kWeighted ? product.band_weight + begin.band_column : nullptr, 0};
  for (std::uint64_t b = begin.band; b < product.block[block + 1].band; ++b) {
    const RowBand& band = product.band[b];
    entries.count = band.entries;
    work(band, entries);
    entries.column += band.entries;
    if constexpr (kWeighted) entries.weight += band.entries;
  }
}

/// Writes the sums of the rows in bands to `sum`, which has kBlockRows doubles. own: as in for_each_line, from the
/// block's first row on.
template <bool kWeighted>
inline void sum_bands(const RowProduct& product, std::uint64_t block, const double* x, const double* own,
                      double* sum) noexcept {
  for_each_band<kWeighted>(
      product, block, [&](const RowBand& band, const BandEntries<kWeighted>& entries) __attribute__((always_inline)) {
        double* const to = sum + band.first_row;
        const std::uint64_t row = for_each_line(
            entries, 0, band.rows, x,
            own + band.first_row, [&](std::uint64_t line, const Register* total) __attribute__((always_inline)) {
              for (int part = 0; part < kParts; ++part) {
                store<false>(to + line + part * kWidth, total[part]);
              }
            });
        sum_few_rows(entries, band.rows, row, band.rows, x, to + row);
      });
}

/// Sums the rows of a block that consists of bands only, and passes them to `finish` in order. A line of eight rows
/// that is not in one band is collected in memory first.
template <bool kWeighted, class Finish>
inline void finish_bands(const RowProduct& product, std::uint64_t block, const double* x, const double* own,
                         Finish& finish) noexcept {
  alignas(64) double line[kLanes];
  std::uint64_t rows = 0;  // of the block so far
  for_each_band<kWeighted>(
      product, block, [&](const RowBand& band, const BandEntries<kWeighted>& entries) __attribute__((always_inline)) {
        const auto collect = [&](std::uint64_t first, std::uint64_t last) {
          sum_few_rows(entries, band.rows, first, last, x, line + (band.first_row + first) % kLanes);
        };
        rows = std::uint64_t{band.first_row} + band.rows;
        std::uint64_t row = 0;
        if (band.first_row % kLanes != 0) {
          row = kLanes - band.first_row % kLanes;
          collect(0, row < band.rows ? row : band.rows);
          if (row > band.rows) return;
          Register total[kParts];
          for (int part = 0; part < kParts; ++part) total[part] = load(line + part * kWidth);
          finish.eight(band.first_row + row - kLanes, total);
        }
        row = for_each_line(
            entries, row, band.rows, x,
            own + band.first_row, [&](std::uint64_t first, const Register* total) __attribute__((always_inline)) {
              finish.eight(band.first_row + first, total);
            });
        collect(row, band.rows);
      });
  for (std::uint64_t row = rows / kLanes * kLanes; row < rows; ++row) finish.one(row, line[row % kLanes]);
}

}  // namespace
}  // namespace ringside::RINGSIDE_ISA
