// SPDX-License-Identifier: BSD-3-Clause
// Handles a block of rows at a time, in two halves as for PageRank: the product of whole rows, including the diagonal,
// then one sweep of
//
//   x_k = x_{k-1} + (b - A x_{k-1}) / a_ii  =  (b - R x_{k-1}) / a_ii,   A = D + R
//
// So the product is the product with the whole matrix A, and the rounding errors stay within
// 2^-53 * ((m * sum of |a_ij x_j| + 2 |b_i - sum|) / |a_ii| + |x_i|) to first order, for m entries in row i.
#include "producer/kernels/jacobi_kernel.hpp"

#include "producer/kernels/row_product_kernel.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

// Per row from memory: 16 B read (previous, diagonal), 16 B moved to write (next; a plain store first reads the cache
// line), and 8 B (b) if b was given.
template <bool kOnes>
void finish_block(const JacobiPass& pass, std::uint64_t first_row, std::uint64_t rows, const double* sum,
                  JacobiBlockSums& block) noexcept {
  ChangeSums change;
  const std::uint64_t whole_eights = rows / kLanes * kLanes;
  for (std::uint64_t row = 0; row < whole_eights; row += kLanes) {
    for (int part = 0; part < kParts; ++part) {
      const std::uint64_t offset = row + static_cast<std::uint64_t>(part * kWidth);
      const std::uint64_t i = first_row + offset;
      const Register b = kOnes ? Register{} + 1.0 : load(pass.right_side + i);
      const Register previous = load(pass.previous + i);
      const Register x = previous + (b - load(sum + offset)) / load(pass.diagonal + i);
      change.add(part, absolute(x - previous));
      store<false>(pass.next + i, x);
    }
  }
  for (std::uint64_t row = whole_eights; row < rows; ++row) {
    const std::uint64_t i = first_row + row;
    const double b = kOnes ? 1.0 : pass.right_side[i];
    const double x = pass.previous[i] + (b - sum[row]) / pass.diagonal[i];
    change.add_row(row, __builtin_fabs(x - pass.previous[i]));
    pass.next[i] = x;
  }
  block.change_l1 = sum_of_lanes(change.l1);
  block.change_linf = max_of_lanes(change.linf);
}

void iterate(const JacobiPass& pass, std::uint64_t first, std::uint64_t last, JacobiBlockSums* sums) noexcept {
  alignas(64) double sum[kBlockRows];
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t rows = rows_of_block(pass.product.rows, block);
    sum_block(pass.product, block, pass.previous, pass.previous, sum);
    if (pass.right_side == nullptr) {
      finish_block<true>(pass, block * kBlockRows, rows, sum, sums[block]);
    } else {
      finish_block<false>(pass, block * kBlockRows, rows, sum, sums[block]);
    }
  }
}

}  // namespace

const JacobiKernels kJacobiKernels = {iterate};

}  // namespace ringside::RINGSIDE_ISA
