// SPDX-License-Identifier: BSD-3-Clause
// The reductions, one small class each, and the list of them at the end (docs/inside/kernels.md describes how to add
// one).
//
// A class is one of two kinds.
//
// A sum over all rows has no data members:
//   term(value)              the summand for a value, which is a double or a register of doubles;
//   finish(total, results)   writes its results, by their names in the table (reduction_table.hpp).
// All sums of the list are computed in one loop, which loads each value once (take_rows). Sums depend on the order of
// additions, so they are kept for each block and added in block order: the number of threads has no effect.
//
// A look computes results that do not depend on the order (counts, extremes, ranks):
//   add_block(block)         reads the results of the loop over a block (min, max, non_finite), and also block.x if
//                            these are not sufficient; keeps its results in its members. Blocks come in any order.
//                            block.x is in the first-level cache, except with AVX-512 and --reduce transfer: there,
//                            non-temporal stores have just written block.x to the slot, and reading it loads it from
//                            memory again;
//   merge(other)             adds the results of another instance;
//   finish(results)          writes its results.
// One instance serves one thread for one sweep. The instance is constructed in existing memory and is never destroyed.
// A class with much working memory has a small type Found for the results of an instance: Found::merge adds an
// instance, and the merge of the class adds a Found.
#pragma once

#include "common/reductions/kernels/field_results.hpp"
#include "common/reductions/kernels/reduction_block.hpp"
#include "common/reductions/kernels/reduction_histogram.hpp"
#include "common/reductions/kernels/reduction_together.hpp"
#include "common/reductions/kernels/reduction_top.hpp"

namespace ringside::RINGSIDE_ISA {

struct Sum {
  template <class T>
  static constexpr T term(T x) noexcept {
    return x;
  }
  static void finish(double total, FieldResults& results) noexcept {
    results.f64<"sum">(total);
    results.f64<"mean">(total / static_cast<double>(results.rows()));
  }
};

struct L1Norm {
  template <class T>
  static constexpr T term(T x) noexcept {
    return magnitude(x);
  }
  static void finish(double total, FieldResults& results) noexcept { results.f64<"l1">(total); }
};

/// Plain squares: beyond about 1e154, an entry's square overflows to infinity; below about 1e-154, it becomes 0.
struct L2Norm {
  template <class T>
  static constexpr T term(T x) noexcept {
    return x * x;
  }
  static void finish(double total, FieldResults& results) noexcept { results.f64<"l2">(__builtin_sqrt(total)); }
};

struct Extremes {
  double min = __builtin_inf();
  double max = -__builtin_inf();

  void add_block(const Block& block) noexcept { widen(block.min, block.max); }
  void merge(const Extremes& other) noexcept { widen(other.min, other.max); }
  void finish(FieldResults& results) const noexcept {
    // Adding 0.0 turns -0 into +0, because it depends on the threads which of these two zeros is found first.
    results.f64<"min">(min + 0.0);
    results.f64<"max">(max + 0.0);
    results.f64<"linf">(greater(magnitude(min), magnitude(max)));
  }

 private:
  void widen(double low, double high) noexcept {
    min = lesser(low, min);
    max = greater(high, max);
  }
};

struct NonFinite {
  std::uint64_t count = 0;

  void add_block(const Block& block) noexcept { count += block.non_finite; }
  void merge(const NonFinite& other) noexcept { count += other.count; }
  void finish(FieldResults& results) const noexcept { results.i64<"non_finite">(count); }
};

struct ChangeL1Norm : L1Norm {
  static void finish(double total, FieldResults& results) noexcept { results.f64<"change_l1">(total); }
};

struct ChangeL2Norm : L2Norm {
  static void finish(double total, FieldResults& results) noexcept { results.f64<"change_l2">(__builtin_sqrt(total)); }
};

struct ChangeLinfNorm {
  double linf = 0;

  void add_block(const Block& block) noexcept { linf = greater(greater(block.max, -block.min), linf); }
  void merge(const ChangeLinfNorm& other) noexcept { linf = greater(other.linf, linf); }
  void finish(FieldResults& results) const noexcept { results.f64<"change_linf">(linf); }
};

/// THE LISTS. The reductions of the iterate, computed in every sweep.
using OfIterate = Together<Sum, L1Norm, L2Norm, Extremes, NonFinite, Histogram, Top>;
/// The reductions of the change since the previous iterate, computed in the first sweep if there is a previous iterate.
using OfChange = Together<ChangeL1Norm, ChangeL2Norm, ChangeLinfNorm>;

}  // namespace ringside::RINGSIDE_ISA
