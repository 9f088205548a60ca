// SPDX-License-Identifier: BSD-3-Clause
// Per row:
//
//   x_k = x_{k-1} + (b - A x_{k-1}) / a_ii  =  (b - R x_{k-1}) / a_ii,   A = D + R
//
// So the product is the product with the whole matrix A, and the rounding errors stay within
// 2^-53 * ((m * sum of |a_ij x_j| + 2 |b_i - sum|) / |a_ii| + |x_i|) to first order, for m entries in row i.
//
// Bytes from memory, a row, besides those of the matrix (row_product_kernel.hpp):
//   8  x_{k-1}, read
//   8  x_k, written (16 if the stores use the cache)
//   8  b, read unless it is all ones
//   8  diagonal, read in groups of rows whose entries on the diagonal differ
#include "producer/kernels/jacobi_kernel.hpp"

#include "producer/kernels/row_product_kernel.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

/// The solver's half of the iteration, for one block. Its pointers begin at the block's first row.
template <bool kStream, bool kOnes>
struct FinishRows {
  const double* previous;
  const double* diagonal;
  const double* group_diagonal;
  const double* right_side;
  double* next;
  ChangeSums change = {};

  [[gnu::always_inline]] void eight(std::uint64_t row, const Register* sum) noexcept {
    const double shared = group_diagonal[row / kGroupRows];
    Register x[kParts];
    for (int part = 0; part < kParts; ++part) {
      const std::uint64_t i = row + static_cast<std::uint64_t>(part * kWidth);
      const Register b = kOnes ? Register{} + 1.0 : load(right_side + i);
      const Register old = load(previous + i);
      x[part] = old + (b - sum[part]) / (shared != kMixedGroup ? Register{} + shared : load(diagonal + i));
      change.add(part, absolute(x[part] - old));
    }
    store_line<kStream>(next + row, x);
  }

  void one(std::uint64_t row, double sum) noexcept {
    const double b = kOnes ? 1.0 : right_side[row];
    const double x = previous[row] + (b - sum) / diagonal[row];
    change.add_row(row, __builtin_fabs(x - previous[row]));
    next[row] = x;
  }
};

template <bool kStream, bool kOnes>
void iterate_blocks(const JacobiPass& pass, std::uint64_t first, std::uint64_t last, JacobiBlockSums* sums) noexcept {
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t first_row = block * kBlockRows;
    FinishRows<kStream, kOnes> rows{.previous = pass.previous + first_row,
                                    .diagonal = pass.diagonal + first_row,
                                    .group_diagonal = pass.group_diagonal + first_row / kGroupRows,
                                    .right_side = kOnes ? nullptr : pass.right_side + first_row,
                                    .next = pass.next + first_row};
    multiply_block(pass.product, block, pass.previous, pass.previous, rows);
    sums[block] = {sum_of_lanes(rows.change.l1), max_of_lanes(rows.change.linf)};
  }
  if constexpr (kStream) _mm_sfence();
}

void iterate(const JacobiPass& pass, bool stream, std::uint64_t first, std::uint64_t last,
             JacobiBlockSums* sums) noexcept {
  if (pass.right_side == nullptr) {
    stream ? iterate_blocks<true, true>(pass, first, last, sums) : iterate_blocks<false, true>(pass, first, last, sums);
  } else {
    stream ? iterate_blocks<true, false>(pass, first, last, sums)
           : iterate_blocks<false, false>(pass, first, last, sums);
  }
}

}  // namespace

const JacobiKernels kJacobiKernels = {iterate};

}  // namespace ringside::RINGSIDE_ISA
