// How the magnitudes of an iterate are distributed: counts in logarithmic bins, found from the exponent and the first
// two bits of the mantissa.
//
// The danger is the counter in memory: adding one to the count just added to waits for that store. Iterates are smooth,
// so most blocks hold one bin or few, known from the block's extremes: those are counted without touching memory. Other
// blocks spread their additions over several tables.
#pragma once

#include "common/reduction.hpp"
#include "common/reduction_block.hpp"

namespace ringside::RINGSIDE_ISA {

class Histogram {
 public:
  static constexpr std::size_t kBlockSums = 0;

  void add_block(const Block& block, double*) noexcept {
    int low = 0;
    int high = kBins - 1;
    if (block.non_finite == 0 && (block.min > 0 || block.max < 0)) {
      const int of_min = bin_of(block.min);
      const int of_max = bin_of(block.max);
      low = of_min < of_max ? of_min : of_max;
      high = of_min < of_max ? of_max : of_min;
    }
    if (low == high) {
      tables_[0][low] += block.rows;
    } else {
      std::uint8_t bins[kBlockRows];
      find_bins(block, bins);
      if (high - low < kFewBins) {
        count_few(bins, block.rows, low, high);
      } else {
        count_many(bins, block.rows);
      }
    }
  }

  void merge(const Histogram& other) noexcept {
    for (int table = 0; table < kTables; ++table) {
      for (int bin = 0; bin < kBins; ++bin) tables_[table][bin] += other.tables_[table][bin];
    }
  }

  void finish(const double*, Reductions& result) const noexcept {
    for (int bin = 0; bin < kBins; ++bin) {
      result.histogram[bin] = 0;
      for (int table = 0; table < kTables; ++table) result.histogram[bin] += tables_[table][bin];
    }
  }

 private:
  static constexpr int kBins = static_cast<int>(kHistogramBins);
  static constexpr int kTables = 4;
  static constexpr int kFewBins = 24;  // from here on counting in memory is faster
  // The upper half of a double is sign (1), exponent (11), mantissa: its exponent and two bits of mantissa, less those
  // of 2^-60, are the bin.
  static constexpr int kShift = 18;
  static constexpr int kFirst = (1023 - 60) * 4;

  static int bin_of(double x) noexcept {
    std::uint64_t bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    const int bin = static_cast<int>(bits << 1 >> 51) - kFirst;
    return bin < 0 ? 0 : bin < kBins ? bin : kBins - 1;
  }

  static void find_bins(const Block& block, std::uint8_t* bins) noexcept {
    using AliasedWord = std::int32_t __attribute__((may_alias));
    const auto* words = reinterpret_cast<const AliasedWord*>(block.x);
    for (std::size_t row = 0; row < block.rows; ++row) {
      const std::int32_t upper = words[2 * row + 1];
      const std::int32_t bin = ((upper & 0x7FFFFFFF) >> kShift) - kFirst;
      bins[row] = static_cast<std::uint8_t>(bin < 0 ? 0 : bin < kBins ? bin : kBins - 1);
    }
  }

  /// All bins are in [low, high]: one look at the block for each but the last.
  void count_few(const std::uint8_t* bins, std::size_t rows, int low, int high) noexcept {
    std::uint64_t rest = rows;
    for (int bin = low; bin < high; ++bin) {
      const std::uint64_t count = count_equal(bins, rows, static_cast<std::uint8_t>(bin));
      tables_[0][bin] += count;
      rest -= count;
    }
    tables_[0][high] += rest;
  }

  static std::uint64_t count_equal(const std::uint8_t* bins, std::size_t rows, std::uint8_t bin) noexcept {
    using Bytes = std::uint8_t __attribute__((vector_size(sizeof(Lanes))));
    static_assert(kBlockRows / sizeof(Bytes) <= 255, "a byte counts the matches in one lane");
    Bytes matches{};
    const std::size_t whole = rows / sizeof(Bytes) * sizeof(Bytes);
    for (std::size_t row = 0; row < whole; row += sizeof(Bytes)) {
      Bytes some;
      __builtin_memcpy(&some, bins + row, sizeof some);
      matches -= reinterpret_cast<Bytes>(some == bin);  // a match is -1
    }
    // Bytes to 16 bits, lanes to one, and a multiplication adds its four parts in the uppermost.
    const auto pairs = reinterpret_cast<LaneBits>(matches);
    const LaneBits parts = (pairs & 0x00FF00FF00FF00FF) + (pairs >> 8 & 0x00FF00FF00FF00FF);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kLanes; ++i) sum += parts[i];
    std::uint64_t count = sum * 0x0001000100010001 >> 48;
    for (std::size_t row = whole; row < rows; ++row) count += bins[row] == bin;
    return count;
  }

  void count_many(const std::uint8_t* bins, std::size_t rows) noexcept {
    std::size_t row = 0;
    for (; row + kTables <= rows; row += kTables) {
      for (int table = 0; table < kTables; ++table) ++tables_[table][bins[row + static_cast<std::size_t>(table)]];
    }
    for (; row < rows; ++row) ++tables_[0][bins[row]];
  }

  std::uint64_t tables_[kTables][kBins] = {};
};

}  // namespace ringside::RINGSIDE_ISA
