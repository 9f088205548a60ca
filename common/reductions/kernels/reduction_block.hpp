// SPDX-License-Identifier: BSD-3-Clause
// The common parts of all reductions: a block of the iterate (small enough for the first-level cache), and the one loop
// over its values that computes all sums, in a fixed order of additions. Compiled once for each instruction set
// (cmake/isa_variants.cmake): all of this code is in the variant's namespace.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/reductions/kernels/reduction_kernel.hpp"
#include "common/reductions/kernels/reduction_record.hpp"

namespace ringside::RINGSIDE_ISA {

/// The number of doubles in a register. No result depends on this number.
#if defined(__AVX512F__)
using Lanes = double __attribute__((vector_size(64)));
#elif defined(__AVX2__)
using Lanes = double __attribute__((vector_size(32)));
#else
using Lanes = double __attribute__((vector_size(16)));
#endif
using LaneBits = std::uint64_t __attribute__((vector_size(sizeof(Lanes))));
inline constexpr std::size_t kRegisterDoubles = sizeof(Lanes) / sizeof(double);

inline constexpr std::size_t kBlockRows = kReductionBlockRows;

inline Lanes load(const double* from) noexcept {
  Lanes lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

constexpr double magnitude(double x) noexcept {
  return __builtin_fabs(x);
}
inline Lanes magnitude(Lanes x) noexcept {
  return reinterpret_cast<Lanes>(reinterpret_cast<LaneBits>(x) & ~(std::uint64_t{1} << 63));
}

/// Works for a double and for lanes. A NaN in `x` leaves `so_far` unchanged.
template <class T>
T lesser(T x, T so_far) noexcept {
  return x < so_far ? x : so_far;
}
template <class T>
T greater(T x, T so_far) noexcept {
  return x > so_far ? x : so_far;
}

/// The histogram's bins of a block's rows, found while the values were in registers: `bins` has the bins of `listed`
/// rows, in any order; all other rows of the block are in bin `usual`.
struct FoundBins {
  const std::uint8_t* bins;
  std::size_t listed;
  int usual;
};

/// Consecutive rows of the iterate, and the results of the loop over all their values (or changes).
struct Block {
  const double* x;          // values of the rows; in the first-level cache, unless `found_bins` is set
  const double* previous;   // the same rows of the previous iterate; null if the change is not wanted
  std::size_t rows;         // kBlockRows, fewer in the last block
  std::uint64_t first_row;  // the index of the first row in the iterate
  double min;               // ignoring NaN; +infinity if all values are NaN
  double max;               // ignoring NaN; -infinity if all values are NaN
  std::size_t non_finite;   // the number of NaN and infinities
  const FoundBins* found_bins = nullptr;
};

/// The prefetch distance ahead of the current rows: two blocks of one array, or one block of each of two arrays, so
/// that the prefetched rows fit the first-level cache. Prefetches do not fault beyond the end of the array.
inline constexpr std::size_t kRowsAhead = 2 * kBlockRows;
inline constexpr std::size_t kRowsAheadOfTwo = kBlockRows;

/// A source for the loop: the values of a block, one at a time or a register at a time.
struct Values {
  const double* x;
  const double* ahead;
  explicit Values(const Block& block) noexcept
      : x(block.x), ahead(x + (block.previous == nullptr ? kRowsAhead : kRowsAheadOfTwo)) {}
  double one(std::size_t row) const noexcept { return x[row]; }
  Lanes lanes(std::size_t row) const noexcept { return load(x + row); }
  void read_ahead(std::size_t row) const noexcept { __builtin_prefetch(ahead + row); }
};

/// The values of a block that is already in the cache, without prefetching.
struct CachedValues {
  const double* x;
  explicit CachedValues(const Block& block) noexcept : x(block.x) {}
  double one(std::size_t row) const noexcept { return x[row]; }
  Lanes lanes(std::size_t row) const noexcept { return load(x + row); }
  void read_ahead(std::size_t) const noexcept {}
};

/// Another source: the change of a block since the previous iterate. The block's own values were read just before.
struct Changes {
  const double* x;
  const double* previous;
  explicit Changes(const Block& block) noexcept : x(block.x), previous(block.previous) {}
  double one(std::size_t row) const noexcept { return x[row] - previous[row]; }
  Lanes lanes(std::size_t row) const noexcept { return load(x + row) - load(previous + row); }
  void read_ahead(std::size_t row) const noexcept { __builtin_prefetch(previous + row + kRowsAheadOfTwo); }
};

/// Swaps lanes at a distance of `distance`, which is a power of two below kRegisterDoubles.
template <std::size_t distance>
Lanes exchange(Lanes x) noexcept {
  constexpr int d = static_cast<int>(distance);
#if defined(__AVX512F__)
  return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d, 2 ^ d, 3 ^ d, 4 ^ d, 5 ^ d, 6 ^ d, 7 ^ d);
#elif defined(__AVX2__)
  return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d, 2 ^ d, 3 ^ d);
#else
  return __builtin_shufflevector(x, x, 0 ^ d, 1 ^ d);
#endif
}

/// Combines all lanes of all registers by op: the first half with the second half, and so on, until one value is left.
template <std::size_t kRegisters, class Op>
double fold(Lanes (&registers)[kRegisters], Op op) noexcept {
#pragma GCC unroll 16
  for (std::size_t half = kRegisters / 2; half > 0; half /= 2) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < half; ++r) registers[r] = op(registers[r], registers[r + half]);
  }
  Lanes lanes = registers[0];
  if constexpr (kRegisterDoubles > 4) lanes = op(lanes, exchange<4>(lanes));
  if constexpr (kRegisterDoubles > 2) lanes = op(lanes, exchange<2>(lanes));
  return op(lanes, exchange<1>(lanes))[0];
}

template <class Source>
std::size_t count_non_finite(Source source, std::size_t rows) noexcept {
  std::size_t count = 0;
  for (std::size_t row = 0; row < rows; ++row) count += !__builtin_isfinite(source.one(row));
  return count;
}

/// Whether the sum of this term always shows that one of its values was NaN or infinite.
template <class Term>
constexpr bool shows_non_finite() noexcept {
  return !__builtin_isfinite(Term::term(__builtin_inf())) && !__builtin_isfinite(Term::term(__builtin_nan("")));
}

// Row r is added to running sum r mod 16, and the running sums are folded by halves: an order that neither the
// instruction set nor the compiler changes. Two registers of each sum are in use at a time. Two are enough: an addition
// rarely waits for the previous one, because additions to other sums come between them. Two are also few enough for the
// sums of three terms to fit the registers. With AVX-512, two registers hold all 16 running sums.
inline constexpr std::size_t kRunning = kRunningSums;
inline constexpr std::size_t kAtOnce = 2;
inline constexpr std::size_t kLineRows = 8;

/// Two registers with running sums for each term.
template <class... Terms>
struct RunningSums {
  Lanes of[sizeof...(Terms)][kAtOnce] = {};

  void take(Lanes values, std::size_t r) noexcept {
    std::size_t t = 0;
    ((of[t++][r] += Terms::term(values)), ...);
  }
};

/// Two registers for each extreme, to match the running sums.
struct RunningExtremes {
  Lanes low[kAtOnce];
  Lanes high[kAtOnce];

  RunningExtremes() noexcept {
    for (Lanes& lanes : low) lanes = __builtin_inf() - Lanes{};
    for (Lanes& lanes : high) lanes = -__builtin_inf() - Lanes{};
  }
  void take(Lanes values, std::size_t r) noexcept {
    low[r] = lesser(values, low[r]);
    high[r] = greater(values, high[r]);
  }
  void settle(Block& block) noexcept {
    block.min = fold(low, [](auto a, auto b) { return lesser(a, b); });
    block.max = fold(high, [](auto a, auto b) { return greater(a, b); });
  }
};

/// Folds the running sums of a block into sums[t], and sets block.non_finite. source: read only if the sums show that
/// some values may not be finite.
template <class... Terms, class Source, std::size_t kTerms, std::size_t kRegisters>
void settle(Source source, Lanes (&running)[kTerms][kRegisters], Block& block, double* sums) noexcept {
  static_assert(sizeof...(Terms) == kTerms && kRegisters == kRunning / kRegisterDoubles);
  bool finite = true;
  for (std::size_t t = 0; t < kTerms; ++t) {
    sums[t] = fold(running[t], [](auto a, auto b) { return a + b; });
    finite = finite && __builtin_isfinite(sums[t]);
  }
  // If the sum is finite, all terms are. An infinite sum may be an overflow, so the values are counted.
  static_assert((shows_non_finite<Terms>() || ...), "the list needs a term that is finite only if the value is finite");
  block.non_finite = finite ? 0 : count_non_finite(source, block.rows);
}

/// The one loop over all values of a block: for every term sums[t] = sum over row < rows of Term::term(source[row]),
/// and the block's min, max and non_finite. With narrow registers the loop passes over the block several times; after
/// the first time, the block is in the first-level cache.
template <class... Terms, class Source>
void look_at(Source source, Block& block, double* sums) noexcept {
  constexpr std::size_t kTerms = sizeof...(Terms);
  Lanes running[kTerms][kRunning / kRegisterDoubles];
  RunningExtremes extremes;
  const std::size_t whole = block.rows / kRunning * kRunning;
  for (std::size_t first = 0; first < kRunning; first += kAtOnce * kRegisterDoubles) {
    RunningSums<Terms...> some;
    for (std::size_t row = first; row < whole; row += kRunning) {
#pragma GCC unroll 16
      for (std::size_t line = 0; line < kAtOnce * kRegisterDoubles; line += kLineRows) source.read_ahead(row + line);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < kAtOnce; ++r) {
        const Lanes values = source.lanes(row + r * kRegisterDoubles);
        some.take(values, r);
        extremes.take(values, r);
      }
    }
    for (std::size_t t = 0; t < kTerms; ++t)
      __builtin_memcpy(running[t] + first / kRegisterDoubles, some.of[t], sizeof some.of[t]);
  }
  extremes.settle(block);
  if (whole < block.rows) {  // only in the last block
    double rest[kTerms][kRunning];
    __builtin_memcpy(rest, running, sizeof rest);
    for (std::size_t row = whole; row < block.rows; ++row) {
      const double value = source.one(row);
      std::size_t t = 0;
      ((rest[t++][row - whole] += Terms::term(value)), ...);
      block.min = lesser(value, block.min);
      block.max = greater(value, block.max);
    }
    __builtin_memcpy(running, rest, sizeof rest);
  }
  settle<Terms...>(source, running, block, sums);
}

}  // namespace ringside::RINGSIDE_ISA
