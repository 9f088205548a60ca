// SPDX-License-Identifier: BSD-3-Clause
// The parts of a copy that also hashes and reduces: each value is loaded once, written with a non-temporal store, and
// hashed together with its line. Compiled once for each instruction set.
#pragma once

#include <immintrin.h>

#include "common/kernels/line_hash.hpp"
#include "common/reductions/kernels/reduction_block.hpp"

namespace ringside::RINGSIDE_ISA {

/// Loads the values once: the compiler may not load them from memory again.
[[gnu::always_inline]] inline Lanes load_once(const double* from) noexcept {
  Lanes lanes = load(from);
  asm volatile("" : "+v"(lanes));
  return lanes;
}

[[gnu::always_inline]] inline void stream(double* to, Lanes lanes) noexcept {
#if defined(__AVX512F__)
  _mm512_stream_pd(to, lanes);
#elif defined(__AVX2__)
  _mm256_stream_pd(to, lanes);
#else
  _mm_stream_pd(to, lanes);
#endif
}

/// Copies the line at `row` to `staged` and, if kStreaming, also to `to` with non-temporal stores. Each value is loaded
/// once.
template <bool kStreaming>
[[gnu::always_inline]] inline void stage_line(const double* from, double* to, double* staged,
                                              std::size_t row) noexcept {
  for (std::size_t i = row; i < row + kLineRows; i += kRegisterDoubles) {
    const Lanes x = load_once(from + i);
    __builtin_memcpy(staged + i, &x, sizeof x);
    if constexpr (kStreaming) stream(to + i, x);
  }
}

/// Adds a line to the hash; row: the index of its first row in the block.
[[gnu::always_inline]] inline void take_line(LineHash& hash, const void* line, std::size_t row, bool is_last) noexcept {
  const std::size_t place = row / kLineRows % kHashBlockLines;
  if (place + 1 < kHashBlockLines) {
    hash.take(line, place);
  } else if (is_last) {
    hash.take_last(line);
  } else {
    hash.take(line, place);
    hash.end_block();
  }
}

}  // namespace ringside::RINGSIDE_ISA
