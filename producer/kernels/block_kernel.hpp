// SPDX-License-Identifier: BSD-3-Clause
// Arithmetic in registers that have an instruction set's own width, for the sources that are compiled once per
// instruction set (cmake/isa_variants.cmake). Eight logical lanes are in one, two or four registers, and sums over rows
// or entries use eight running sums at every width. Everything here is local to the source that includes it.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace ringside::RINGSIDE_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 8;
#elif defined(__AVX__)
constexpr int kWidth = 4;
#else
constexpr int kWidth = 2;
#endif
constexpr int kLanes = 8;
constexpr int kParts = kLanes / kWidth;

using Register = double __attribute__((vector_size(kWidth * 8)));
using Bits = long long __attribute__((vector_size(kWidth * 8)));

inline Register load(const double* from) noexcept {
  Register value;
  __builtin_memcpy(&value, from, sizeof value);  // one load, whatever the alignment
  return value;
}

template <bool kStream>
inline void store(double* to, Register value) noexcept {
  if constexpr (!kStream) {
    __builtin_memcpy(to, &value, sizeof value);
  } else {
#if defined(__AVX512F__)
    _mm512_stream_pd(to, value);
#elif defined(__AVX__)
    _mm256_stream_pd(to, value);
#else
    _mm_stream_pd(to, value);
#endif
  }
}

/// Stores a line of eight values with stores that follow each other, so that a non-temporal line is one write to
/// memory.
template <bool kStream>
inline void store_line(double* to, const Register* parts) noexcept {
  for (int part = 0; part < kParts; ++part) store<kStream>(to + part * kWidth, parts[part]);
}

inline Register absolute(Register value) noexcept {
  constexpr long long kAllButSign = 0x7fff'ffff'ffff'ffff;
  return reinterpret_cast<Register>(reinterpret_cast<Bits>(value) & kAllButSign);
}

// Prefetches the cache line of from[ahead]. This element may be past the end of the array, because a prefetch never
// causes a fault.
template <class T>
inline void prefetch(const T* from, std::uint64_t ahead) noexcept {
  __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(from) + ahead * sizeof(T)));
}

inline double lane(const Register* parts, int i) noexcept {
  return parts[i / kWidth][i % kWidth];
}

inline double sum_of_lanes(const Register* v) noexcept {
  return ((lane(v, 0) + lane(v, 4)) + (lane(v, 2) + lane(v, 6))) +
         ((lane(v, 1) + lane(v, 5)) + (lane(v, 3) + lane(v, 7)));
}

inline double max_of_lanes(const Register* v) noexcept {
  double max = lane(v, 0);
  for (int i = 1; i < kLanes; ++i) max = lane(v, i) > max ? lane(v, i) : max;
  return max;
}

/// The change of the rows of one block. Row r is in lane r modulo 8.
struct ChangeSums {
  Register l1[kParts] = {};
  Register linf[kParts] = {};

  void add(int part, Register change) noexcept {
    l1[part] += change;
    linf[part] = change > linf[part] ? change : linf[part];
  }
  void add_row(std::uint64_t row, double change) noexcept {
    const int part = static_cast<int>(row % kLanes) / kWidth;
    const int element = static_cast<int>(row % kLanes) % kWidth;
    l1[part][element] += change;
    if (change > linf[part][element]) linf[part][element] = change;
  }
};

}  // namespace
}  // namespace ringside::RINGSIDE_ISA
