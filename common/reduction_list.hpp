// The reductions, one small class each, and the list of them at the end (docs/reductions.md says how to add one).
//
// A class has
//   kBlockSums               how many sums it makes of a block: values that depend on the order of additions. They are
//                            kept per block and added in block order, so the number of threads does not show;
//   add_block(block, sums)   looks at a block while it is in the first-level cache, writes its block sums, and notes
//                            the rest (counts, extremes: the order does not matter) in its members;
//   merge(other)             takes in the members of another thread's instance;
//   finish(totals, result)   writes its fields of the result, given the totals of its block sums.
// One instance serves one thread for one sweep. It is made in memory that exists already and is never destroyed.
#pragma once

#include "common/reduction.hpp"
#include "common/reduction_block.hpp"
#include "common/reduction_histogram.hpp"
#include "common/reduction_top.hpp"

namespace ringside::RINGSIDE_ISA {

struct Sum {
  static constexpr std::size_t kBlockSums = 1;
  void add_block(const Block& block, double* sums) noexcept {
    sums[0] = sum_of(Values{block.x}, block.rows, [](auto x) { return x; });
  }
  void merge(const Sum&) noexcept {}
  void finish(const double* totals, Reductions& result) const noexcept {
    result.sum = totals[0];
    result.mean = totals[0] / static_cast<double>(result.rows);
  }
};

struct L1Norm {
  static constexpr std::size_t kBlockSums = 1;
  void add_block(const Block& block, double* sums) noexcept {
    sums[0] = sum_of(Values{block.x}, block.rows, [](auto x) { return magnitude(x); });
  }
  void merge(const L1Norm&) noexcept {}
  void finish(const double* totals, Reductions& result) const noexcept { result.l1 = totals[0]; }
};

/// Squares as they are: entries beyond about 1e154 overflow to infinity, those below about 1e-154 vanish.
struct L2Norm {
  static constexpr std::size_t kBlockSums = 1;
  void add_block(const Block& block, double* sums) noexcept {
    sums[0] = sum_of(Values{block.x}, block.rows, [](auto x) { return x * x; });
  }
  void merge(const L2Norm&) noexcept {}
  void finish(const double* totals, Reductions& result) const noexcept { result.l2 = __builtin_sqrt(totals[0]); }
};

struct Extremes {
  static constexpr std::size_t kBlockSums = 0;
  double min = __builtin_inf();
  double max = -__builtin_inf();

  void add_block(const Block& block, double*) noexcept { widen(block.min, block.max); }
  void merge(const Extremes& other) noexcept { widen(other.min, other.max); }
  void finish(const double*, Reductions& result) const noexcept {
    // + 0.0: which of the zeros, -0 or +0, was seen first depends on the threads.
    result.min = min + 0.0;
    result.max = max + 0.0;
    result.linf = greater(magnitude(min), magnitude(max));
  }

 private:
  void widen(double low, double high) noexcept {
    min = lesser(low, min);
    max = greater(high, max);
  }
};

struct NonFinite {
  static constexpr std::size_t kBlockSums = 0;
  std::uint64_t count = 0;

  void add_block(const Block& block, double*) noexcept { count += block.non_finite; }
  void merge(const NonFinite& other) noexcept { count += other.count; }
  void finish(const double*, Reductions& result) const noexcept { result.non_finite = count; }
};

/// The change against the iterate before, in three norms.
struct Change {
  static constexpr std::size_t kBlockSums = 2;
  double linf = 0;

  void add_block(const Block& block, double* sums) noexcept {
    const Changes changes{block.x, block.previous};
    sums[0] = sum_of(changes, block.rows, [](auto d) { return magnitude(d); });
    sums[1] = sum_of(changes, block.rows, [](auto d) { return d * d; });
    linf = max_of(
        changes, block.rows, [](auto d) { return magnitude(d); }, linf);
  }
  void merge(const Change& other) noexcept { linf = greater(other.linf, linf); }
  void finish(const double* totals, Reductions& result) const noexcept {
    result.has_change = 1;
    result.change_l1 = totals[0];
    result.change_l2 = __builtin_sqrt(totals[1]);
    result.change_linf = linf;
  }
};

/// Several reductions as one, in the order they are listed.
template <class... Each>
struct Together : Each... {
  static constexpr std::size_t kBlockSums = (std::size_t{0} + ... + Each::kBlockSums);
  static constexpr std::size_t kCount = sizeof...(Each);

  /// Makes a new one at `place`: some are too large to be made elsewhere and copied.
  static void* operator new(std::size_t, void* place) noexcept { return place; }

  /// `between` is called before each: the pass uses it to read ahead.
  template <class Between>
  void add_block(const Block& block, double* sums, Between between) noexcept {
    ((between(), Each::add_block(block, sums), sums += Each::kBlockSums), ...);
  }
  void merge(const Together& other) noexcept { (Each::merge(static_cast<const Each&>(other)), ...); }
  void finish(const double* totals, Reductions& result) const noexcept {
    ((Each::finish(totals, result), totals += Each::kBlockSums), ...);
  }
};

/// THE LIST. Of the iterate: computed in every sweep.
using OfIterate = Together<Sum, L1Norm, L2Norm, Extremes, NonFinite, Histogram, Top>;
/// Of the iterate and the one before: computed in the first sweep, if there is one before.
using OfChange = Together<Change>;

}  // namespace ringside::RINGSIDE_ISA
