// SPDX-License-Identifier: BSD-3-Clause
// The exact results of an integer field (docs/inside/kernels.md). 128 bits can hold the sum of 2^31 entries of 64 bits,
// so the results depend neither on the order of additions nor on the instruction set.
#pragma once

#include "common/reductions/kernels/field_results.hpp"
#include "common/results/result_values.hpp"

namespace ringside {

inline constexpr Int128 kGreatestInt128 = static_cast<Int128>(~UInt128{0} >> 1);

/// The results for some or all entries of an integer field. alignas(64): each object has a cache line of its own,
/// because each thread writes one of these objects.
struct alignas(64) ExactReductions {
  Int128 sum = 0;
  Int128 l1 = 0;
  Int128 min = kGreatestInt128;
  Int128 max = -kGreatestInt128;
  Int128 change_l1 = 0;
  Int128 change_linf = 0;

  [[gnu::always_inline]] Int128 linf() const noexcept { return max > -min ? max : -min; }

  /// Writes the exact results of the whole field, and the mean, which is rounded once.
  [[gnu::always_inline]] void finish(FieldResults& results, bool has_change) const noexcept {
    results.i128<"sum">(sum);
    results.f64<"mean">(static_cast<double>(sum) / static_cast<double>(results.rows()));
    results.i128<"min">(min);
    results.i128<"max">(max);
    results.i128<"l1">(l1);
    results.i128<"linf">(linf());
    if (!has_change) return;
    results.i128<"change_l1">(change_l1);
    results.i128<"change_linf">(change_linf);
  }

  void clear_but_change() noexcept {
    const Int128 l1_of_change = change_l1;
    const Int128 linf_of_change = change_linf;
    *this = ExactReductions{};
    change_l1 = l1_of_change;
    change_linf = linf_of_change;
  }

  /// Adds the results for other entries.
  void merge(const ExactReductions& other) noexcept {
    sum += other.sum;
    l1 += other.l1;
    if (other.min < min) min = other.min;
    if (other.max > max) max = other.max;
    change_l1 += other.change_l1;
    if (other.change_linf > change_linf) change_linf = other.change_linf;
  }
};

}  // namespace ringside
