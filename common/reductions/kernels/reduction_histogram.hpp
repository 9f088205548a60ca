// SPDX-License-Identifier: BSD-3-Clause
// The distribution of an iterate's magnitudes: counts in logarithmic bins. The exponent and the first two bits of the
// mantissa determine the bin of a value.
//
// The counters in memory are expensive: each entry needs one store, which waits for the previous store if neighbours
// fall into the same bin. Iterates are smooth, so the values of most blocks are in one bin or a few bins, which the
// block's extremes show. The values of such a block are counted in registers. In other blocks, pairs of neighbours are
// counted, so that two entries need one store.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "common/reductions/kernels/field_results.hpp"
#include "common/reductions/kernels/reduction_block.hpp"
#include "common/reductions/kernels/reduction_record.hpp"

namespace ringside::RINGSIDE_ISA {

// The upper half of a double consists of sign (1), exponent (11) and mantissa. The bin is the number that consists of
// the exponent and two bits of mantissa, minus the same number for 2^-60.
inline constexpr int kBins = static_cast<int>(kHistogramBins);
inline constexpr int kFirstBin = (1023 - 60) * 4;

inline int bin_of(double x) noexcept {
  std::uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const int bin = static_cast<int>(bits << 1 >> 51) - kFirstBin;
  return bin < 0 ? 0 : bin < kBins ? bin : kBins - 1;
}

class Histogram {
 public:
  Histogram() noexcept {}  // not = default: pairs_ is large, and is cleared only where it is used

  void add_block(const Block& block) noexcept {
    const Range range = range_of(block);
    if (block.found_bins != nullptr) {
      const FoundBins& found = *block.found_bins;
      counts_[found.usual] += block.rows - found.listed;
      if (found.listed != 0) count(found.bins, found.listed, range, found.usual, block.next);
    } else if (range.low == range.high) {
      counts_[range.low] += block.rows;
    } else {
      std::uint8_t bins[kBlockRows];
      find_bins(block, bins);
      count(bins, block.rows, range, bin_of(block.x[block.rows / 2]), block.next);
    }
  }

  /// The counts alone, without the memory for pairs.
  struct Found {
    std::uint64_t counts[kBins] = {};

    void merge(const Histogram& one) noexcept { one.add_to(counts); }
  };

  void merge(const Found& found) noexcept {
    for (int bin = 0; bin < kBins; ++bin) counts_[bin] += found.counts[bin];
  }

  void finish(FieldResults& results) const noexcept { add_to(results.words<"histogram", RINGSIDE_VALUE_I64>()); }

 private:
  static constexpr int kFewBins = 16;  // from this number of bins on, counting in memory is faster
  static constexpr int kShift = 18;    // for the upper half of a double

  struct Range {
    int low;
    int high;  // the last bin
  };

  /// A range of bins that contains the bins of all values of the block.
  static Range range_of(const Block& block) noexcept {
    if (block.non_finite != 0) return {0, kBins - 1};
    const int of_min = bin_of(block.min);
    const int of_max = bin_of(block.max);
    if (block.min > 0) return {of_min, of_max};
    if (block.max < 0) return {of_max, of_min};
    return {0, of_min < of_max ? of_max : of_min};
  }

  static void find_bins(const Block& block, std::uint8_t* bins) noexcept {
    std::size_t row = 0;
#if defined(__AVX2__)
    for (; row + 16 <= block.rows; row += 16) find_16_bins(block.x + row, bins + row);
#endif
    for (; row < block.rows; ++row) bins[row] = static_cast<std::uint8_t>(bin_of(block.x[row]));
  }

#if defined(__AVX2__)
  /// Writes the results of bin_of for 16 values, in another order, which does not affect the counts. The conversions
  /// saturate at the first and the last bin.
  static_assert(kBins == 256, "the conversion to bytes saturates at the last bin");
  static void find_16_bins(const double* x, std::uint8_t* bins) noexcept {
    const auto upper_halves = [](const double* from) {
      const __m256 a = _mm256_castpd_ps(_mm256_loadu_pd(from));
      const __m256 b = _mm256_castpd_ps(_mm256_loadu_pd(from + 4));
      return _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xDD));  // in the order 0 1 4 5 2 3 6 7
    };
    const auto bins_of = [](__m256i upper) {
      const __m256i exponents = _mm256_srli_epi32(_mm256_slli_epi32(upper, 1), kShift + 1);
      return _mm256_sub_epi32(exponents, _mm256_set1_epi32(kFirstBin));
    };
    const __m256i words = _mm256_packs_epi32(bins_of(upper_halves(x)), bins_of(upper_halves(x + 8)));
    const __m256i bytes = _mm256_packus_epi16(words, words);
    const __m128i low = _mm256_castsi256_si128(bytes);
    const __m128i high = _mm256_extracti128_si256(bytes, 1);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(bins), _mm_unpacklo_epi64(low, high));
  }
#endif

  void count(const std::uint8_t* bins, std::size_t rows, Range range, int usual, const double* next) noexcept {
    if (range.high - range.low < kFewBins) {
      count_few(bins, rows, range);
    } else {
      widen_pairs(range);
      count_many(bins, rows, static_cast<std::uint8_t>(usual), next);
    }
  }

  /// Counts entries whose bins are all in the range, with one pass over the block for each bin but the last.
  void count_few(const std::uint8_t* bins, std::size_t rows, Range range) noexcept {
    std::uint64_t rest = rows;
    for (int bin = range.low; bin < range.high; ++bin) {
      const std::uint64_t count = count_equal(bins, rows, static_cast<std::uint8_t>(bin));
      counts_[bin] += count;
      rest -= count;
    }
    counts_[range.high] += rest;
  }

  static std::uint64_t count_equal(const std::uint8_t* bins, std::size_t rows, std::uint8_t bin) noexcept {
    using Bytes = std::uint8_t __attribute__((vector_size(sizeof(Lanes))));
    static_assert(kBlockRows / sizeof(Bytes) <= 255, "the matches in one lane must fit a byte");
    Bytes matches{};
    const std::size_t whole = rows / sizeof(Bytes) * sizeof(Bytes);
    for (std::size_t row = 0; row < whole; row += sizeof(Bytes)) {
      Bytes some;
      __builtin_memcpy(&some, bins + row, sizeof some);
      matches -= reinterpret_cast<Bytes>(some == bin);  // a match is -1 in its lane
    }
    // Widen the bytes to 16 bits, add all lanes into one, and add its four parts into the uppermost part by a
    // multiplication.
    const auto pairs = reinterpret_cast<LaneBits>(matches);
    const LaneBits parts = (pairs & 0x00FF00FF00FF00FF) + (pairs >> 8 & 0x00FF00FF00FF00FF);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kRegisterDoubles; ++i) sum += parts[i];
    std::uint64_t count = sum * 0x0001000100010001 >> 48;
    for (std::size_t row = whole; row < rows; ++row) count += bins[row] == bin;
    return count;
  }

  /// Clears the part of pairs_ for the bins of this range; unused parts of pairs_ are never touched.
  void widen_pairs(Range range) noexcept {
    if (paired_.low > paired_.high) paired_ = {range.low, range.low - 1};
    if (range.low < paired_.low) {
      clear_pairs(range.low, paired_.low);
      paired_.low = range.low;
    }
    if (range.high > paired_.high) {
      clear_pairs(paired_.high + 1, range.high + 1);
      paired_.high = range.high;
    }
  }

  void clear_pairs(int first, int end) noexcept {
    __builtin_memset(pairs_ + first * kBins, 0, static_cast<std::size_t>(end - first) * kBins * sizeof *pairs_);
  }

  /// usual: any bin. If that bin fills most of the block, counting its pairs one by one would make each store wait for
  /// the previous one. So eight neighbours in this bin are counted by one addition in a register. next: as in Block. It
  /// is prefetched, because memory would otherwise be idle while this loop counts.
  void count_many(const std::uint8_t* bins, std::size_t rows, std::uint8_t usual, const double* next) noexcept {
    const std::uint64_t usual_eight = usual * std::uint64_t{0x0101010101010101};
    std::uint64_t usual_eights = 0;
    const std::size_t whole = rows / 8 * 8;
    for (std::size_t row = 0; row < whole; row += 8) {
      __builtin_prefetch(next + row);
      std::uint64_t eight;
      __builtin_memcpy(&eight, bins + row, sizeof eight);
      if (eight == usual_eight) {
        ++usual_eights;
      } else {
        for (int pair = 0; pair < 4; ++pair) ++pairs_[eight >> 16 * pair & 0xFFFF];
      }
    }
    counts_[usual] += 8 * usual_eights;
    for (std::size_t row = whole; row < rows; ++row) ++counts_[bins[row]];
  }

  void add_to(std::uint64_t* histogram) const noexcept {
    for (int bin = 0; bin < kBins; ++bin) histogram[bin] += counts_[bin];
    for (int one = paired_.low; one <= paired_.high; ++one) {
      const std::uint32_t* with_one = pairs_ + one * kBins;
      std::uint64_t ones = 0;
      for (int other = paired_.low; other <= paired_.high; ++other) {
        ones += with_one[other];
        histogram[other] += with_one[other];
      }
      histogram[one] += ones;
    }
  }

  std::uint64_t counts_[kBins] = {};
  Range paired_ = {0, -1};  // the bins whose pairs were counted; the rest of pairs_ has not been cleared
  // pairs_[256 a + b]: the number of neighbours in bins a and b. The array has 256 KiB, but only a small part is used:
  // the square of the bins that occur. A 32-bit counter is full after 2^33 rows of one thread.
  std::uint32_t pairs_[kBins * kBins];
};

}  // namespace ringside::RINGSIDE_ISA
