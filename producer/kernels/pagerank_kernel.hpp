// SPDX-License-Identifier: BSD-3-Clause
// The inner loops of PageRank. They use raw pointers and are compiled once per instruction set
// (cmake/isa_variants.cmake). All variants give the same bits: the additions of a row always have the same order
// (producer/kernels/row_product.hpp), sums over rows use eight lanes (row modulo eight), and no multiply-add is
// contracted.
#pragma once

#include <cstdint>

#include "producer/kernels/row_product.hpp"

namespace ringside {

/// The inputs and outputs of one iteration. n rows; vectors are n doubles; d: damping, w: mass on dangling rows.
struct PagerankPass {
  RowProduct product;          // the product with the contributions or, if its entries have the scales, with x_{k-1}
  const std::uint32_t* place;  // the place of row i's contribution; if null, the place is i
  const double* scale;         // d / (sum of the weights leaving the row), 0 for a dangling row; null if no row is
                               // dangling and the product reads x_{k-1}
  const double* group_scale;   // ceil(n / kGroupRows) values: the scale of a whole group, or kMixedGroup
  const double* contribution;  // x_{k-1} * scale, in their places; null if the product reads x_{k-1}
  double* next_contribution;   // becomes x_k * scale; null if `contribution` is
  const double* previous;      // x_{k-1}
  double* next;                // becomes x_k; may be `previous` unless the product reads x_{k-1}
  double base;                 // ((1 - d) + d * w_{k-1}) / n
};

/// Sums over the rows of one block.
struct PagerankBlockSums {
  double change_l1;    // sum |x_k - x_{k-1}|
  double change_linf;  // max |x_k - x_{k-1}|
  double dangling;     // sum of x_k over the rows whose scale is 0
};

/// One instruction set's loops, over the blocks [first, last); `sums` has an entry for every block of the matrix.
struct PagerankKernels {
  /// Makes x_k, its contributions if there are any, and its block sums. With `stream`, the stores are non-temporal
  /// (`next` and `next_contribution` must then be 64-byte aligned), except those of contributions with places of their
  /// own; they are ordered before all later stores of the calling thread.
  void (*iterate)(const PagerankPass& pass, bool stream, std::uint64_t first, std::uint64_t last,
                  PagerankBlockSums* sums) noexcept;
  /// Makes the contributions, if `pass` has any, and the dangling sums that `iterate` would have left when it made
  /// `pass.previous`.
  void (*prepare)(const PagerankPass& pass, std::uint64_t first, std::uint64_t last, PagerankBlockSums* sums) noexcept;
};

namespace plain {
extern const PagerankKernels kPagerankKernels;
}
namespace avx2 {
extern const PagerankKernels kPagerankKernels;
}
namespace avx512 {
extern const PagerankKernels kPagerankKernels;
}

}  // namespace ringside
