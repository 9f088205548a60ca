// SPDX-License-Identifier: BSD-3-Clause
#include "bench/programs/read_kernel.hpp"

#include <immintrin.h>

#include "common/reductions/kernels/reduction_block.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

void stream(double* to, Lanes lanes) noexcept {
#if defined(__AVX512F__)
  _mm512_stream_pd(to, lanes);
#elif defined(__AVX2__)
  _mm256_stream_pd(to, lanes);
#else
  _mm_stream_pd(to, lanes);
#endif
}

}  // namespace

std::uint64_t read_all(const double* x, std::size_t rows) noexcept {
  // Four cache lines at a time, in at least four registers, each with its own running value, so that only the loads
  // take time. The prefetch distance is the same as that of the reductions.
  constexpr std::size_t kRowsAtOnce = 4 * kLineRows;
  LaneBits running[kRowsAtOnce / kRegisterDoubles] = {};
  const std::size_t whole = rows / kRowsAtOnce * kRowsAtOnce;
  for (std::size_t row = 0; row < whole; row += kRowsAtOnce) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRowsAtOnce; i += kLineRows) __builtin_prefetch(x + row + i + kRowsAhead);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kRowsAtOnce; i += kRegisterDoubles) {
      running[i / kRegisterDoubles] ^= reinterpret_cast<LaneBits>(load(x + row + i));
    }
  }
  std::uint64_t words = 0;
  for (const LaneBits& lanes : running) {
    for (std::size_t i = 0; i < kRegisterDoubles; ++i) words ^= lanes[i];
  }
  for (std::size_t row = whole; row < rows; ++row) {
    std::uint64_t word;
    __builtin_memcpy(&word, x + row, sizeof word);
    words ^= word;
  }
  return words;
}

std::uint64_t copy_and_read(double* to, const double* from, const double* third, std::size_t rows) noexcept {
  constexpr std::size_t kAheadRows = 256;  // the copy's prefetch distance
  LaneBits running[kLineRows / kRegisterDoubles] = {};
#pragma GCC unroll 4
  for (std::size_t row = 0; row < rows / kLineRows * kLineRows; row += kLineRows) {
    __builtin_prefetch(from + row + kAheadRows);
    __builtin_prefetch(third + row + kAheadRows);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kLineRows; i += kRegisterDoubles) {
      stream(to + row + i, load(from + row + i));
      running[i / kRegisterDoubles] ^= reinterpret_cast<LaneBits>(load(third + row + i));
    }
  }
  std::uint64_t words = 0;
  for (const LaneBits& lanes : running) {
    for (std::size_t i = 0; i < kRegisterDoubles; ++i) words ^= lanes[i];
  }
  return words;
}

}  // namespace ringside::RINGSIDE_ISA
