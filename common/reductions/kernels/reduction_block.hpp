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
  const double* next;  // the next block's values in memory, for prefetches; may be past the end of the array
};

/// The loop over an iterate and its change prefetches the previous iterate this many rows ahead. These rows fit the
/// first-level cache. Prefetches do not fault beyond the end of the array. (The hardware's prefetcher reads the iterate
/// itself: for one stream it is as fast as prefetches, for two it is not.)
inline constexpr std::size_t kRowsAhead = kBlockRows;

/// A source for the loop: the values of a block, one at a time or a register at a time.
struct Values {
  const double* x;
  explicit Values(const Block& block) noexcept : x(block.x) {}
  double one(std::size_t row) const noexcept { return x[row]; }
  Lanes lanes(std::size_t row) const noexcept { return load(x + row); }
};

/// Another source: the change of a block since the previous iterate. The block's own values were read just before.
struct Changes {
  const double* x;
  const double* previous;
  explicit Changes(const Block& block) noexcept : x(block.x), previous(block.previous) {}
  double one(std::size_t row) const noexcept { return x[row] - previous[row]; }
  Lanes lanes(std::size_t row) const noexcept { return load(x + row) - load(previous + row); }
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
// instruction set nor the compiler changes. One loop takes a line after the other, because memory is fastest in this
// order. So with registers narrower than those of AVX-512, some running sums are in memory (the stack) during the loop.
// The loop still waits for the data: with AVX2, it takes 0.6 ns a row of an iterate and its change in the cache,
// and 1.4 ns from memory. (Two loops over every second line each, with all sums in registers, take 0.5 and 1.9 ns.)
inline constexpr std::size_t kRunning = kRunningSums;
inline constexpr std::size_t kRunningRegisters = kRunning / kRegisterDoubles;
inline constexpr std::size_t kLineRows = 8;

/// The running results of a list of sums over a block.
template <class... Terms>
struct Running {
  Lanes sums[sizeof...(Terms)][kRunningRegisters] = {};
  // The extremes do not depend on the order, so one register each is enough; with AVX-512, there is room for two.
  static constexpr std::size_t kOfExtreme = kRegisterDoubles < 8 ? 1 : 2;
  Lanes low[kOfExtreme];
  Lanes high[kOfExtreme];

  Running() noexcept {
    for (Lanes& lanes : low) lanes = __builtin_inf() - Lanes{};
    for (Lanes& lanes : high) lanes = -__builtin_inf() - Lanes{};
  }
  /// Takes a register of rows whose first row belongs to the first running sum in register r.
  [[gnu::always_inline]] void take(Lanes values, std::size_t r) noexcept {
    std::size_t t = 0;
    ((sums[t++][r] += Terms::term(values)), ...);
    low[r % kOfExtreme] = lesser(values, low[r % kOfExtreme]);
    high[r % kOfExtreme] = greater(values, high[r % kOfExtreme]);
  }
};

/// Takes the rows [first, last) of a block: whole groups of kRunning rows. source: the values that `running` takes.
template <class Source, class Running>
[[gnu::always_inline]] inline void take_rows(Source source, std::size_t first, std::size_t last,
                                             Running& running) noexcept {
  Running in_registers = running;
  for (std::size_t row = first; row < last; row += kRunning) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRunningRegisters; ++r) {
      in_registers.take(source.lanes(row + r * kRegisterDoubles), r);
    }
  }
  running = in_registers;
}

/// The same for the values of the iterate and for the changes: each value is loaded once.
template <class RunningValues, class RunningChanges>
[[gnu::always_inline]] inline void take_rows(const double* x, const double* previous, std::size_t first,
                                             std::size_t last, RunningValues& values,
                                             RunningChanges& changes) noexcept {
  RunningValues values_in_registers = values;
  RunningChanges changes_in_registers = changes;
  for (std::size_t row = first; row < last; row += kRunning) {
    for (std::size_t line = 0; line < kRunning; line += kLineRows)
      __builtin_prefetch(previous + row + line + kRowsAhead);
#pragma GCC unroll 16
    for (std::size_t r = 0; r < kRunningRegisters; ++r) {
      const Lanes values_of_rows = load(x + row + r * kRegisterDoubles);
      values_in_registers.take(values_of_rows, r);
      changes_in_registers.take(values_of_rows - load(previous + row + r * kRegisterDoubles), r);
    }
  }
  values = values_in_registers;
  changes = changes_in_registers;
}

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

/// Ends the loop over a block: sums[t] = sum over row < rows of Term::term(source[row]) for every term, and the block's
/// min, max and non_finite. The rows after the last whole group of kRunning rows are taken here.
template <class... Terms, class Source>
void end_loop(Source source, Running<Terms...>& running, Block& block, double* sums) noexcept {
  constexpr std::size_t kTerms = sizeof...(Terms);
  block.min = fold(running.low, [](auto a, auto b) { return lesser(a, b); });
  block.max = fold(running.high, [](auto a, auto b) { return greater(a, b); });
  const std::size_t whole = block.rows / kRunning * kRunning;
  if (whole < block.rows) {  // only in the last block
    double rest[kTerms][kRunning];
    __builtin_memcpy(rest, running.sums, sizeof rest);
    for (std::size_t row = whole; row < block.rows; ++row) {
      const double value = source.one(row);
      std::size_t t = 0;
      ((rest[t++][row - whole] += Terms::term(value)), ...);
      block.min = lesser(value, block.min);
      block.max = greater(value, block.max);
    }
    __builtin_memcpy(running.sums, rest, sizeof rest);
  }
  settle<Terms...>(source, running.sums, block, sums);
}

}  // namespace ringside::RINGSIDE_ISA
