// SPDX-License-Identifier: BSD-3-Clause
// The inner loops of the Jacobi iteration. They use raw pointers and are compiled once per instruction set
// (cmake/isa_variants.cmake). All variants give the same bits, as the variants of PageRank do
// (producer/kernels/pagerank_kernel.hpp).
#pragma once

#include <cstdint>

#include "producer/kernels/row_product.hpp"

namespace ringside {

/// The inputs and outputs of one iteration of A x = b. Vectors are n doubles.
struct JacobiPass {
  RowProduct product;            // the product with x_{k-1}
  const double* diagonal;        // the diagonal of A
  const double* group_diagonal;  // ceil(n / kGroupRows) values: the entry of a whole group, or kMixedGroup
  const double* right_side;      // b, or null: all ones
  const double* previous;        // x_{k-1}
  double* next;                  // becomes x_k
};

/// The change from x_{k-1} to x_k, over the rows of one block.
struct JacobiBlockSums {
  double change_l1;
  double change_linf;
};

/// One instruction set's loops, over the blocks [first, last); `sums` has an entry for every block of the matrix.
struct JacobiKernels {
  /// With `stream`, the stores to `next`, which must then be 64-byte aligned, are non-temporal; they are ordered before
  /// all later stores of the calling thread.
  void (*iterate)(const JacobiPass& pass, bool stream, std::uint64_t first, std::uint64_t last,
                  JacobiBlockSums* sums) noexcept;
};

namespace plain {
extern const JacobiKernels kJacobiKernels;
}
namespace avx2 {
extern const JacobiKernels kJacobiKernels;
}
namespace avx512 {
extern const JacobiKernels kJacobiKernels;
}

}  // namespace ringside
