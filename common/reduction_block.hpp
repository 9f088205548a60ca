// What every reduction is written with: a block of the iterate that lies in the first-level cache, and sums over it
// whose order of additions is fixed. Compiled once per instruction set (cmake/isa_variants.cmake): everything lives in
// the variant's namespace.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside::RINGSIDE_ISA {

/// As many doubles as a register holds. No result depends on how many that is.
#if defined(__AVX512F__)
using Lanes = double __attribute__((vector_size(64)));
#elif defined(__AVX2__)
using Lanes = double __attribute__((vector_size(32)));
#else
using Lanes = double __attribute__((vector_size(16)));
#endif
using LaneBits = std::uint64_t __attribute__((vector_size(sizeof(Lanes))));
inline constexpr std::size_t kLanes = sizeof(Lanes) / sizeof(double);

/// Rows of a block: 8 KiB, so that a block of both iterates and the two that are fetched meanwhile fit 32 KiB.
inline constexpr std::size_t kBlockRows = 1024;

inline Lanes load(const double* from) noexcept {
  Lanes lanes;
  __builtin_memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

inline double magnitude(double x) noexcept {
  return __builtin_fabs(x);
}
inline Lanes magnitude(Lanes x) noexcept {
  return reinterpret_cast<Lanes>(reinterpret_cast<LaneBits>(x) & ~(std::uint64_t{1} << 63));
}

/// For a double or for lanes; NaN in `x` leaves `so_far` as it is.
template <class T>
T lesser(T x, T so_far) noexcept {
  return x < so_far ? x : so_far;
}
template <class T>
T greater(T x, T so_far) noexcept {
  return x > so_far ? x : so_far;
}

/// Consecutive rows of the iterate, and what the pass has found out about them before it asks the reductions.
struct Block {
  const double* x;          // rows values, in the first-level cache
  const double* previous;   // the same rows of the iterate before; null where the change is not asked for
  std::size_t rows;         // kBlockRows, fewer in the last block
  std::uint64_t first_row;  // of the iterate
  double min;               // NaN apart; +infinity if there is nothing else
  double max;               // NaN apart; -infinity if there is nothing else
  std::size_t non_finite;   // NaN and infinities
};

/// The values of a block, one by one or by the register.
struct Values {
  const double* x;
  double one(std::size_t row) const noexcept { return x[row]; }
  Lanes lanes(std::size_t row) const noexcept { return load(x + row); }
};

/// The change of a block against the iterate before.
struct Changes {
  const double* x;
  const double* previous;
  double one(std::size_t row) const noexcept { return x[row] - previous[row]; }
  Lanes lanes(std::size_t row) const noexcept { return load(x + row) - load(previous + row); }
};

/// op over all lanes of all registers, by halves: first half with second half until one value is left.
template <std::size_t kRegisters, class Op>
double fold(Lanes (&registers)[kRegisters], Op op) noexcept {
#pragma GCC unroll 16
  for (std::size_t half = kRegisters / 2; half > 0; half /= 2) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < half; ++r) registers[r] = op(registers[r], registers[r + half]);
  }
  Lanes lanes = registers[0];
#pragma GCC unroll 16
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
#pragma GCC unroll 16
    for (std::size_t i = 0; i < half; ++i) lanes[i] = op(double{lanes[i]}, double{lanes[i + half]});
  }
  return lanes[0];
}

/// sum over row < rows of term(source[row]).
/// Row r is added to running sum r mod 32 (enough of them that no addition waits for the one before), and those are
/// folded by halves: an order that neither the instruction set nor the compiler changes.
template <class Source, class Term>
double sum_of(Source source, std::size_t rows, Term term) noexcept {
  constexpr std::size_t kRunning = 32;
  constexpr std::size_t kRegisters = kRunning / kLanes;
  Lanes running[kRegisters] = {};
  const std::size_t whole = rows / kRunning * kRunning;
  for (std::size_t row = 0; row < whole; row += kRunning) {
    for (std::size_t r = 0; r < kRegisters; ++r) running[r] += term(source.lanes(row + r * kLanes));
  }
  if (whole < rows) {  // the last block only
    double values[kRunning];
    __builtin_memcpy(values, running, sizeof values);
    for (std::size_t row = whole; row < rows; ++row) values[row - whole] += term(source.one(row));
    __builtin_memcpy(running, values, sizeof values);
  }
  return fold(running, [](auto a, auto b) { return a + b; });
}

/// The largest of `least` and term(source[row]) over row < rows; NaN apart.
template <class Source, class Term>
double max_of(Source source, std::size_t rows, Term term, double least) noexcept {
  constexpr std::size_t kRegisters = 4;
  constexpr std::size_t kRowsAtOnce = kRegisters * kLanes;
  Lanes most[kRegisters];
  for (Lanes& lanes : most) lanes = least - Lanes{};
  const std::size_t whole = rows / kRowsAtOnce * kRowsAtOnce;
  for (std::size_t row = 0; row < whole; row += kRowsAtOnce) {
    for (std::size_t r = 0; r < kRegisters; ++r) most[r] = greater(term(source.lanes(row + r * kLanes)), most[r]);
  }
  least = fold(most, [](auto a, auto b) { return greater(a, b); });
  for (std::size_t row = whole; row < rows; ++row) least = greater(term(source.one(row)), least);
  return least;
}

}  // namespace ringside::RINGSIDE_ISA
