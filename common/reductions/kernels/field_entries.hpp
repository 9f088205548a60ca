// SPDX-License-Identifier: BSD-3-Clause
// Converts a block of each dtype to doubles, and computes the exact results of the block. There is one class for each
// kind of entry, with these members:
//
//   kBytes                                     the size of an entry;
//   widen(from, entries, x)                    sets x[i] to entry i as a double, for a complex entry to its modulus;
//   widen_change(from, before, entries, x)     sets x[i] to the change since the previous step, in the same way;
//   add_exact(exact, from, block, sums)        for integers: adds the exact results, after the block was reduced;
//   add_exact_change(exact, from, before, block, sums)    for integers: adds the results of the change.
//
// The bytes need no alignment beyond the alignment of their dtype. Compiled once for each instruction set; all variants
// give the same bits, because each operation is rounded separately.
#pragma once

#include <immintrin.h>

#include <type_traits>

#include "common/reductions/kernels/exact_reductions.hpp"
#include "common/reductions/kernels/reduction_list.hpp"

namespace ringside::RINGSIDE_ISA {

template <class T>
T entry_at(const std::byte* from, std::size_t i) noexcept {
  T entry;
  __builtin_memcpy(&entry, from + i * sizeof entry, sizeof entry);
  return entry;
}

/// The base class for dtypes without exact results.
struct Inexact {
  static void add_exact(ExactReductions&, const std::byte*, const Block&, const double*) noexcept {}
  static void add_exact_change(ExactReductions&, const std::byte*, const std::byte*, const Block&,
                               const double*) noexcept {}
};

/// f32, and integers of at most 32 bits: a double can represent each of them, and differences of f32 are rounded once.
template <class T>
struct Narrow : Inexact {
  static constexpr std::size_t kBytes = sizeof(T);

  static void widen(const std::byte* from, std::size_t entries, double* x) noexcept {
    for (std::size_t i = 0; i < entries; ++i) x[i] = static_cast<double>(entry_at<T>(from, i));
  }
  static void widen_change(const std::byte* from, const std::byte* before, std::size_t entries, double* x) noexcept {
    for (std::size_t i = 0; i < entries; ++i) {
      x[i] = static_cast<double>(entry_at<T>(from, i)) - static_cast<double>(entry_at<T>(before, i));
    }
  }
};

/// Integers of at most 32 bits: no sum of a block, and no change, has more than 43 bits, so the doubles are exact.
template <class T>
struct NarrowInteger : Narrow<T> {
  static void add_exact(ExactReductions& exact, const std::byte*, const Block& block, const double* sums) noexcept {
    exact.sum += static_cast<std::int64_t>(sums[OfIterate::kPlaceOf<Sum>]);
    exact.l1 += static_cast<std::int64_t>(sums[OfIterate::kPlaceOf<L1Norm>]);
    if (exact.min > static_cast<std::int64_t>(block.min)) exact.min = static_cast<std::int64_t>(block.min);
    if (exact.max < static_cast<std::int64_t>(block.max)) exact.max = static_cast<std::int64_t>(block.max);
  }
  static void add_exact_change(ExactReductions& exact, const std::byte*, const std::byte*, const Block& block,
                               const double* sums) noexcept {
    exact.change_l1 += static_cast<std::int64_t>(sums[OfChange::kPlaceOf<ChangeL1Norm>]);
    const auto linf = static_cast<std::int64_t>(greater(block.max, -block.min));
    if (exact.change_linf < linf) exact.change_linf = linf;
  }
};

/// The sum of up to 2^32 numbers of 64 bits, as two sums: the sum of their lower halves and the sum of their upper
/// halves.
struct SplitSum {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  void add(std::uint64_t number) noexcept {
    low += number & 0xFFFFFFFF;
    high += number >> 32;
  }
  Int128 value() const noexcept { return (static_cast<Int128>(high) << 32) + static_cast<Int128>(low); }
};

/// i64 and u64. `biased` maps both types to one order: the least number becomes 0, the greatest becomes 2^64 - 1.
template <class T>
struct WideInteger {
  static constexpr std::size_t kBytes = sizeof(T);
  static constexpr bool kSigned = static_cast<T>(-1) < static_cast<T>(0);
  static constexpr std::uint64_t kBias = kSigned ? std::uint64_t{1} << 63 : 0;

  static std::uint64_t biased(const std::byte* from, std::size_t i) noexcept {
    return entry_at<std::uint64_t>(from, i) ^ kBias;
  }
  static std::uint64_t distance(std::uint64_t a, std::uint64_t b) noexcept { return a > b ? a - b : b - a; }

  static void widen(const std::byte* from, std::size_t entries, double* x) noexcept {
    for (std::size_t i = 0; i < entries; ++i) x[i] = static_cast<double>(entry_at<T>(from, i));
  }
  /// Computes the magnitude of the change, which is exact before it is rounded to a double.
  static void widen_change(const std::byte* from, const std::byte* before, std::size_t entries, double* x) noexcept {
    for (std::size_t i = 0; i < entries; ++i) x[i] = static_cast<double>(distance(biased(from, i), biased(before, i)));
  }

  static void add_exact(ExactReductions& exact, const std::byte* from, const Block& block, const double*) noexcept {
    SplitSum sum;
    SplitSum l1;
    std::uint64_t min = ~std::uint64_t{0};
    std::uint64_t max = 0;
    for (std::size_t i = 0; i < block.rows; ++i) {
      const std::uint64_t number = biased(from, i);
      sum.add(number);
      if constexpr (kSigned) l1.add(distance(number, kBias));
      min = min < number ? min : number;
      max = max > number ? max : number;
    }
    const Int128 bias = kBias;
    exact.sum += sum.value() - bias * static_cast<Int128>(block.rows);
    exact.l1 += kSigned ? l1.value() : sum.value();
    if (exact.min > static_cast<Int128>(min) - bias) exact.min = static_cast<Int128>(min) - bias;
    if (exact.max < static_cast<Int128>(max) - bias) exact.max = static_cast<Int128>(max) - bias;
  }
  static void add_exact_change(ExactReductions& exact, const std::byte* from, const std::byte* before,
                               const Block& block, const double*) noexcept {
    SplitSum l1;
    std::uint64_t linf = 0;
    for (std::size_t i = 0; i < block.rows; ++i) {
      const std::uint64_t change = distance(biased(from, i), biased(before, i));
      l1.add(change);
      linf = linf > change ? linf : change;
    }
    exact.change_l1 += l1.value();
    if (exact.change_linf < static_cast<Int128>(linf)) exact.change_linf = static_cast<Int128>(linf);
  }
};

inline Lanes square_root(Lanes x) noexcept {
#if defined(__AVX512F__)
  return _mm512_maskz_sqrt_pd(0xFF, x);  // all lanes; gcc 12 warns about _mm512_sqrt_pd (its bug 105593)
#elif defined(__AVX2__)
  return _mm256_sqrt_pd(x);
#else
  return _mm_sqrt_pd(x);
#endif
}

inline Lanes lanes_of(double x) noexcept {
  return x - Lanes{};
}

/// The modulus of re + i im. Squares of c128 may overflow or vanish although the modulus does not. In that case both
/// parts are scaled by a power of 2, which has no rounding error that affects the sum of the squares. Squares of c64
/// always fit a double.
template <bool kScaled>
Lanes modulus(Lanes re, Lanes im) noexcept {
  if constexpr (!kScaled) return square_root(re * re + im * im);
  const Lanes largest = greater(magnitude(re), magnitude(im));
  const Lanes one = lanes_of(1);
  const auto scaled_by = [&](Lanes down, Lanes up) {
    return largest > lanes_of(0x1p510) ? down : largest < lanes_of(0x1p-480) ? up : one;
  };
  const Lanes scale = scaled_by(lanes_of(0x1p-600), lanes_of(0x1p600));
  const Lanes a = re * scale;
  const Lanes b = im * scale;
  return square_root(a * a + b * b) * scaled_by(lanes_of(0x1p600), lanes_of(0x1p-600));
}

/// A vector with as many floats as Lanes has doubles.
using Floats = float __attribute__((vector_size(sizeof(Lanes) / 2)));

/// c64 and c128. T: the type of the real and the imaginary part.
template <class T>
struct Complex : Inexact {
  static constexpr std::size_t kBytes = 2 * sizeof(T);

  static void widen(const std::byte* from, std::size_t entries, double* x) noexcept {
    for_each_register(entries, x, [from](std::size_t i, std::size_t some) {
      const Parts z = parts(from, i, some);
      return modulus<kScaled>(z.re, z.im);
    });
  }
  static void widen_change(const std::byte* from, const std::byte* before, std::size_t entries, double* x) noexcept {
    for_each_register(entries, x, [from, before](std::size_t i, std::size_t some) {
      const Parts z = parts(from, i, some);
      const Parts was = parts(before, i, some);
      return modulus<kScaled>(z.re - was.re, z.im - was.im);
    });
  }

 private:
  static constexpr bool kScaled = std::is_same_v<T, double>;

  struct Parts {
    Lanes re;
    Lanes im;
  };

  /// The parts of `some` entries, beginning with entry i; the other lanes are 0.
  [[gnu::always_inline]] static Parts parts(const std::byte* from, std::size_t i, std::size_t some) noexcept {
    if (some == kRegisterDoubles) return parts_at(from + i * kBytes);
    std::byte padded[kRegisterDoubles * kBytes];
    __builtin_memset(padded, 0, sizeof padded);
    __builtin_memcpy(padded, from + i * kBytes, some * kBytes);
    return parts_at(padded);
  }

  [[gnu::always_inline]] static Parts parts_at(const std::byte* from) noexcept {
    const Lanes a = widened(from);
    const Lanes b = widened(from + kRegisterDoubles * sizeof(T));
#if defined(__AVX512F__)
    return {__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14),
            __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)};
#elif defined(__AVX2__)
    return {__builtin_shufflevector(a, b, 0, 2, 4, 6), __builtin_shufflevector(a, b, 1, 3, 5, 7)};
#else
    return {__builtin_shufflevector(a, b, 0, 2), __builtin_shufflevector(a, b, 1, 3)};
#endif
  }

  static Lanes widened(const std::byte* numbers) noexcept {
    std::conditional_t<kScaled, Lanes, Floats> some;
    __builtin_memcpy(&some, numbers, sizeof some);
    return __builtin_convertvector(some, Lanes);
  }

  template <class Value>
  [[gnu::always_inline]] static void for_each_register(std::size_t entries, double* x, const Value& value) noexcept {
    const std::size_t whole = entries / kRegisterDoubles * kRegisterDoubles;
    for (std::size_t i = 0; i < whole; i += kRegisterDoubles) {
      const Lanes lanes = value(i, kRegisterDoubles);
      __builtin_memcpy(x + i, &lanes, sizeof lanes);
    }
    if (whole == entries) return;
    const Lanes lanes = value(whole, entries - whole);
    __builtin_memcpy(x + whole, &lanes, (entries - whole) * sizeof(double));
  }
};

}  // namespace ringside::RINGSIDE_ISA
