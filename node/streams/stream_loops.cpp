// SPDX-License-Identifier: BSD-3-Clause
// Each loop has its simplest form, and the compiler vectorizes it, as it does with the published loops. `__restrict`
// states that arrays do not overlap. Only the loops with non-temporal stores use vectors explicitly, because the
// compiler does not generate such stores. They store whole cache lines, so that each line becomes one write to memory.
#include "node/streams/stream_loops.hpp"

#include <immintrin.h>

namespace ringside::RINGSIDE_ISA {
namespace {

using Index = std::uint64_t;

#if defined(__AVX512F__)
constexpr Index kWide = 8;
using Wide = __m512d;
inline Wide load_wide(const double* from) noexcept {
  return _mm512_loadu_pd(from);
}
inline void store_past(double* to, Wide value) noexcept {
  _mm512_stream_pd(to, value);
}
#elif defined(__AVX2__)
constexpr Index kWide = 4;
using Wide = __m256d;
inline Wide load_wide(const double* from) noexcept {
  return _mm256_loadu_pd(from);
}
inline void store_past(double* to, Wide value) noexcept {
  _mm256_stream_pd(to, value);
}
#else
constexpr Index kWide = 2;
using Wide = __m128d;
inline Wide load_wide(const double* from) noexcept {
  return _mm_loadu_pd(from);
}
inline void store_past(double* to, Wide value) noexcept {
  _mm_stream_pd(to, value);
}
#endif

constexpr Index kLineElements = 8;  // doubles in a cache line

/// Makes to[i] = f(i) for [begin, end): `one` computes one element, `wide` computes kWide elements. Whole lines are
/// written with non-temporal stores.
template <class One, class WideOf>
inline void store_all_past(double* to, Index begin, Index end, const One& one, const WideOf& wide) noexcept {
  Index i = begin;
  for (; i < end && i % kLineElements != 0; ++i) to[i] = one(i);
  for (; i + kLineElements <= end; i += kLineElements) {
    for (Index part = 0; part < kLineElements; part += kWide) store_past(to + i + part, wide(i + part));
  }
  for (; i < end; ++i) to[i] = one(i);
  _mm_sfence();
}

double read(const StreamArguments& on, Index begin, Index end) noexcept {
  const double* __restrict a = on.arrays[0];
  constexpr Index kSums = 32;  // so many that the additions wait for memory, not for each other
  double sums[kSums] = {};
  Index i = begin;
  for (; i + kSums <= end; i += kSums) {
    for (Index k = 0; k < kSums; ++k) sums[k] += a[i + k];
  }
  double sum = 0;
  for (; i < end; ++i) sum += a[i];
  for (Index k = 0; k < kSums; ++k) sum += sums[k];
  return sum;
}

double copy(const StreamArguments& on, Index begin, Index end) noexcept {
  const double* __restrict a = on.arrays[0];
  double* __restrict c = on.arrays[2];
  for (Index i = begin; i < end; ++i) c[i] = a[i];
  return 0;
}

double copy_nontemporal(const StreamArguments& on, Index begin, Index end) noexcept {
  const double* a = on.arrays[0];
  const auto one = [=](Index i) noexcept { return a[i]; };
  const auto wide = [=](Index i) noexcept { return load_wide(a + i); };
  store_all_past(on.arrays[2], begin, end, one, wide);
  return 0;
}

double scale(const StreamArguments& on, Index begin, Index end) noexcept {
  double* __restrict b = on.arrays[1];
  const double* __restrict c = on.arrays[2];
  const double s = on.scalar;
  for (Index i = begin; i < end; ++i) b[i] = s * c[i];
  return 0;
}

double scale_nontemporal(const StreamArguments& on, Index begin, Index end) noexcept {
  const double* c = on.arrays[2];
  const double s = on.scalar;
  const auto one = [=](Index i) noexcept { return s * c[i]; };
  const auto wide = [=](Index i) noexcept { return s * load_wide(c + i); };
  store_all_past(on.arrays[1], begin, end, one, wide);
  return 0;
}

double add(const StreamArguments& on, Index begin, Index end) noexcept {
  const double* __restrict a = on.arrays[0];
  const double* __restrict b = on.arrays[1];
  double* __restrict c = on.arrays[2];
  for (Index i = begin; i < end; ++i) c[i] = a[i] + b[i];
  return 0;
}

double add_nontemporal(const StreamArguments& on, Index begin, Index end) noexcept {
  const double* a = on.arrays[0];
  const double* b = on.arrays[1];
  const auto one = [=](Index i) noexcept { return a[i] + b[i]; };
  const auto wide = [=](Index i) noexcept { return load_wide(a + i) + load_wide(b + i); };
  store_all_past(on.arrays[2], begin, end, one, wide);
  return 0;
}

double triad(const StreamArguments& on, Index begin, Index end) noexcept {
  double* __restrict a = on.arrays[0];
  const double* __restrict b = on.arrays[1];
  const double* __restrict c = on.arrays[2];
  const double s = on.scalar;
  for (Index i = begin; i < end; ++i) a[i] = b[i] + s * c[i];
  return 0;
}

double triad_nontemporal(const StreamArguments& on, Index begin, Index end) noexcept {
  const double* b = on.arrays[1];
  const double* c = on.arrays[2];
  const double s = on.scalar;
  const auto one = [=](Index i) noexcept { return b[i] + s * c[i]; };
  const auto wide = [=](Index i) noexcept { return load_wide(b + i) + s * load_wide(c + i); };
  store_all_past(on.arrays[0], begin, end, one, wide);
  return 0;
}

double write_only(const StreamArguments& on, Index begin, Index end) noexcept {
  double* __restrict a = on.arrays[0];
  const double s = on.scalar;
  for (Index i = begin; i < end; ++i) a[i] = s;
  return 0;
}

double write_read4(const StreamArguments& on, Index begin, Index end) noexcept {
  double* __restrict a = on.arrays[0];
  const double* __restrict b = on.arrays[1];
  const double* __restrict c = on.arrays[2];
  const double* __restrict d = on.arrays[3];
  const double* __restrict e = on.arrays[4];
  for (Index i = begin; i < end; ++i) a[i] = b[i] + c[i] + d[i] + e[i];
  return 0;
}

double write_read4_twice(const StreamArguments& on, Index begin, Index end) noexcept {
  double* __restrict a1 = on.arrays[0];
  const double* __restrict b1 = on.arrays[1];
  const double* __restrict c1 = on.arrays[2];
  const double* __restrict d1 = on.arrays[3];
  const double* __restrict e1 = on.arrays[4];
  double* __restrict a2 = on.arrays[5];
  const double* __restrict b2 = on.arrays[6];
  const double* __restrict c2 = on.arrays[7];
  const double* __restrict d2 = on.arrays[8];
  const double* __restrict e2 = on.arrays[9];
  for (Index i = begin; i < end; ++i) {
    a1[i] = b1[i] + c1[i] + d1[i] + e1[i];
    a2[i] = b2[i] + c2[i] + d2[i] + e2[i];
  }
  return 0;
}

double stride(const StreamArguments& on, Index begin, Index end) noexcept {
  double* __restrict a = on.arrays[0];
  const double* __restrict b = on.arrays[1];
  const double* __restrict c = on.arrays[2];
  const double* __restrict d = on.arrays[3];
  const double* __restrict e = on.arrays[4];
  for (Index unit = begin; unit < end; ++unit) {
    const Index i = unit * kStreamStride;
    a[i] = b[i] + c[i] + d[i] + e[i];
  }
  return 0;
}

double order(const StreamArguments& on, Index begin, Index end) noexcept {
  double* __restrict a = on.arrays[0];
  const double* __restrict b = on.arrays[1];
  const double* __restrict c = on.arrays[2];
  const double* __restrict d = on.arrays[3];
  const double* __restrict e = on.arrays[4];
  const std::uint32_t* __restrict k = on.order;
  for (Index i = begin; i < end; ++i) a[k[i]] = b[k[i]] + c[k[i]] + d[k[i]] + e[k[i]];
  return 0;
}

double rows_first(const StreamArguments& on, Index begin, Index end) noexcept {
  double* __restrict a = on.arrays[0];
  const double* __restrict b = on.arrays[1];
  const double* __restrict c = on.arrays[2];
  const Index side = on.side;
  for (Index i = begin; i < end; ++i) {
    for (Index j = 0; j < side; ++j) a[i * side + j] = b[i * side + j] + c[i * side + j];
  }
  return 0;
}

double columns_first(const StreamArguments& on, Index begin, Index end) noexcept {
  double* __restrict a = on.arrays[0];
  const double* __restrict b = on.arrays[1];
  const double* __restrict c = on.arrays[2];
  const Index side = on.side;
  for (Index j = begin; j < end; ++j) {
    for (Index i = 0; i < side; ++i) {
      a[i * side + j] = b[i * side + j] + c[i * side + j];
      __asm__ volatile("" ::: "memory");  // otherwise the compiler may exchange the loops
    }
  }
  return 0;
}

double mixed(const StreamArguments& on, Index begin, Index end) noexcept {
  double* __restrict a = on.arrays[0];
  const double* __restrict b = on.arrays[1];
  const double* __restrict c = on.arrays[2];
  const Index side = on.side;
  for (Index i = begin; i < end; ++i) {
    for (Index j = 0; j < side; ++j) a[i * side + j] = b[i * side + j] + c[j * side + i];
  }
  return 0;
}

/// Unit u is row u + 1, because the border rows are not changed.
double stencil9(const StreamArguments& on, Index begin, Index end) noexcept {
  double* __restrict a = on.arrays[0];
  const double* __restrict b = on.arrays[1];
  const Index side = on.side;
  for (Index unit = begin; unit < end; ++unit) {
    const double* __restrict above = b + unit * side;
    const double* __restrict here = above + side;
    const double* __restrict below = here + side;
    double* __restrict to = a + (unit + 1) * side;
    for (Index j = 1; j + 1 < side; ++j) {
      to[j] = (above[j - 1] + above[j] + above[j + 1] + here[j - 1] + here[j] + here[j + 1] + below[j - 1] + below[j] +
               below[j + 1]) *
              (1.0 / 9.0);
    }
  }
  return 0;
}

}  // namespace

const StreamLoops kStreamLoops = {read,
                                  copy,
                                  copy_nontemporal,
                                  scale,
                                  scale_nontemporal,
                                  add,
                                  add_nontemporal,
                                  triad,
                                  triad_nontemporal,
                                  write_only,
                                  write_read4,
                                  write_read4_twice,
                                  stride,
                                  order,
                                  rows_first,
                                  columns_first,
                                  mixed,
                                  stencil9};

}  // namespace ringside::RINGSIDE_ISA
