// SPDX-License-Identifier: BSD-3-Clause
// Three sweeps of an iteration, each over a block of rows at a time:
//
//   q = A p, p.q;     x' = x + alpha p, r' = r - alpha q, r'.r';     p' = r' + beta p
//
// Sums over rows use eight running sums at every width: row r is added in lane r modulo 8, as docs/inside/kernels.md
// specifies.
#include "producer/kernels/cg_kernel.hpp"

#include "producer/kernels/row_product_kernel.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

/// A sum over the rows of one block.
struct RowSum {
  Register lanes[kParts] = {};

  void add(int part, Register term) noexcept { lanes[part] += term; }
  void add_row(std::uint64_t row, double term) noexcept {
    lanes[static_cast<int>(row % kLanes) / kWidth][static_cast<int>(row % kLanes) % kWidth] += term;
  }
  double value() const noexcept { return sum_of_lanes(lanes); }
};

// Per row from memory: the product's bytes (producer/kernels/row_product_kernel.hpp), and 16 B moved to write q; p is
// in the cache.
void multiply(const CgPass& pass, std::uint64_t first, std::uint64_t last, CgBlockSums* sums) noexcept {
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t rows = rows_of_block(pass.product.rows, block);
    const double* const p = pass.p + block * kBlockRows;
    double* const q = pass.product_with_p + block * kBlockRows;
    sum_block(pass.product, block, pass.p, pass.p, q);
    RowSum sum;
    const std::uint64_t whole_eights = rows / kLanes * kLanes;
    for (std::uint64_t row = 0; row < whole_eights; row += kLanes) {
      for (int part = 0; part < kParts; ++part) {
        const std::uint64_t i = row + static_cast<std::uint64_t>(part * kWidth);
        sum.add(part, load(p + i) * load(q + i));
      }
    }
    for (std::uint64_t row = whole_eights; row < rows; ++row) sum.add_row(row, p[row] * q[row]);
    sums[block].p_dot_product = sum.value();
  }
}

// Per row from memory: 32 B read (x, r, p, q), 32 B moved to write (x', r').
void advance(const CgPass& pass, std::uint64_t first, std::uint64_t last, CgBlockSums* sums) noexcept {
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t begin = block * kBlockRows;
    const std::uint64_t rows = rows_of_block(pass.product.rows, block);
    const double* const q = pass.product_with_p;
    ChangeSums change;
    RowSum square;
    const std::uint64_t whole_eights = rows / kLanes * kLanes;
    for (std::uint64_t row = 0; row < whole_eights; row += kLanes) {
      for (int part = 0; part < kParts; ++part) {
        const std::uint64_t i = begin + row + static_cast<std::uint64_t>(part * kWidth);
        const Register old = load(pass.x + i);
        const Register x = old + pass.alpha * load(pass.p + i);
        const Register r = load(pass.r + i) - pass.alpha * load(q + i);
        change.add(part, absolute(x - old));
        square.add(part, r * r);
        store<false>(pass.next_x + i, x);
        store<false>(pass.next_r + i, r);
      }
    }
    for (std::uint64_t row = whole_eights; row < rows; ++row) {
      const std::uint64_t i = begin + row;
      const double old = pass.x[i];
      const double x = old + pass.alpha * pass.p[i];
      const double r = pass.r[i] - pass.alpha * q[i];
      change.add_row(row, __builtin_fabs(x - old));
      square.add_row(row, r * r);
      pass.next_x[i] = x;
      pass.next_r[i] = r;
    }
    sums[block].r_dot_r = square.value();
    sums[block].change_l1 = sum_of_lanes(change.l1);
    sums[block].change_linf = max_of_lanes(change.linf);
  }
}

// Per row from memory: 16 B read (r', p), 16 B moved to write (p').
void turn(const CgPass& pass, std::uint64_t first, std::uint64_t last) noexcept {
  const std::uint64_t end = last * kBlockRows < pass.product.rows ? last * kBlockRows : pass.product.rows;
  for (std::uint64_t i = first * kBlockRows; i < end; ++i) pass.next_p[i] = pass.next_r[i] + pass.beta * pass.p[i];
}

void square(const double* r, std::uint64_t rows, std::uint64_t first, std::uint64_t last, CgBlockSums* sums) noexcept {
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t block_rows = rows_of_block(rows, block);
    const double* const of_block = r + block * kBlockRows;
    RowSum sum;
    const std::uint64_t whole_eights = block_rows / kLanes * kLanes;
    for (std::uint64_t row = 0; row < whole_eights; row += kLanes) {
      for (int part = 0; part < kParts; ++part) {
        const Register value = load(of_block + row + static_cast<std::uint64_t>(part * kWidth));
        sum.add(part, value * value);
      }
    }
    for (std::uint64_t row = whole_eights; row < block_rows; ++row) sum.add_row(row, of_block[row] * of_block[row]);
    sums[block].r_dot_r = sum.value();
  }
}

}  // namespace

const CgKernels kCgKernels = {multiply, advance, turn, square};

}  // namespace ringside::RINGSIDE_ISA
