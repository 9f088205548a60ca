// SPDX-License-Identifier: BSD-3-Clause
// Finds the bins of the histogram for values in registers (AVX-512), 32 values at a time. Iterates are smooth: usually
// all 32 values are in the usual bin, and then none of them is listed.
#pragma once

#include <immintrin.h>

#include "common/reductions/kernels/reduction_block.hpp"
#include "common/reductions/kernels/reduction_histogram.hpp"

namespace ringside::RINGSIDE_ISA {

#if defined(__AVX512F__)
/// Finds the bins of one block.
class BinFinder {
 public:
  /// usual: the bin in which most values are expected.
  explicit BinFinder(int usual) noexcept : usual_(usual), usual_words_(_mm512_set1_epi16(static_cast<short>(usual))) {}

  /// Takes four registers of values, each with any eight rows.
  void take(Lanes a, Lanes b, Lanes c, Lanes d) noexcept {
    // The upper 16 bits of each value: sign (1), exponent (11), mantissa (4). The values are in the order that takes
    // the least work.
    const __m512i ab = upper_halves(a, b);
    const __m512i cd = upper_halves(c, d);
    const __m512i words = _mm512_mask_mov_epi16(_mm512_srli_epi32(ab, 16), 0xAAAAAAAA, cd);
    // These bins are equal to the results of bin_of: subtraction and conversion saturate at the first and last bin.
    const __m512i exponents = _mm512_srli_epi16(_mm512_slli_epi16(words, 1), 3);
    const __m512i bins = _mm512_subs_epu16(exponents, _mm512_set1_epi16(kFirstBin));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(listed_bins_ + listed_), _mm512_cvtusepi16_epi8(bins));
    listed_ += _mm512_cmpneq_epi16_mask(bins, usual_words_) != 0 ? kAtATime : 0;
  }

  FoundBins found() const noexcept { return {listed_bins_, listed_, usual_}; }

 private:
  static constexpr std::size_t kAtATime = 32;

  static __m512i upper_halves(Lanes a, Lanes b) noexcept {
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return _mm512_permutex2var_epi32(reinterpret_cast<__m512i>(a), odd, reinterpret_cast<__m512i>(b));
  }

  int usual_;
  __m512i usual_words_;
  std::size_t listed_ = 0;
  alignas(64) std::uint8_t listed_bins_[kBlockRows + kAtATime];
};
#endif

}  // namespace ringside::RINGSIDE_ISA
