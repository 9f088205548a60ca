// SPDX-License-Identifier: BSD-3-Clause
// The inner loops of conjugate gradients. They use raw pointers and are compiled once per instruction set
// (cmake/isa_variants.cmake). All variants give the same bits, as the variants of PageRank do
// (producer/kernels/pagerank_kernel.hpp). Block sums are added between the loops, because each loop needs a sum over
// all rows.
#pragma once

#include <cstdint>

#include "producer/kernels/row_product.hpp"

namespace ringside {

/// The inputs and outputs of one iteration of A x = b. Vectors are n doubles. next_x may be x, next_r may be r, and
/// next_p may be p.
struct CgPass {
  RowProduct product;  // the product with p
  const double* x;
  const double* r;
  const double* p;
  double* product_with_p;  // A p: written by `multiply`
  double* next_x;
  double* next_r;
  double* next_p;
  double alpha;
  double beta;
};

/// Sums over the rows of one block.
struct CgBlockSums {
  double p_dot_product;  // p . A p
  double r_dot_r;
  double change_l1;  // the change of x
  double change_linf;
};

/// One instruction set's loops, over the blocks [first, last); `sums` has an entry for every block of the matrix. With
/// `stream`, stores are non-temporal. The vectors that a loop writes must then be 64-byte aligned, and should not be
/// vectors that it reads. The stores are ordered before all later stores of the calling thread.
struct CgKernels {
  /// A p, and p . A p.
  void (*multiply)(const CgPass& pass, bool stream, std::uint64_t first, std::uint64_t last,
                   CgBlockSums* sums) noexcept;

  /// x + alpha p and its change; r - alpha A p and its square.
  void (*advance)(const CgPass& pass, bool stream, std::uint64_t first, std::uint64_t last, CgBlockSums* sums) noexcept;

  /// (the new r) + beta p.
  void (*turn)(const CgPass& pass, bool stream, std::uint64_t first, std::uint64_t last) noexcept;

  /// Only r . r, for the n doubles at `r`; the result has the same bits as that of `advance`.
  void (*square)(const double* r, std::uint64_t rows, std::uint64_t first, std::uint64_t last,
                 CgBlockSums* sums) noexcept;
};

namespace plain {
extern const CgKernels kCgKernels;
}
namespace avx2 {
extern const CgKernels kCgKernels;
}
namespace avx512 {
extern const CgKernels kCgKernels;
}

}  // namespace ringside
