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

/// The solver's half of the product, for one block: q = A p and p.q. Its pointers begin at the block's first row.
template <bool kStream>
struct FinishProduct {
  const double* p;
  double* q;
  RowSum sum = {};

  [[gnu::always_inline]] void eight(std::uint64_t row, const Register* product) noexcept {
    for (int part = 0; part < kParts; ++part) sum.add(part, load(p + row + part * kWidth) * product[part]);
    store_line<kStream>(q + row, product);
  }
  void one(std::uint64_t row, double product) noexcept {
    sum.add_row(row, p[row] * product);
    q[row] = product;
  }
};

// Bytes from memory, a row, besides those of the matrix: 8 B read (p) and 8 B written (q; 16 B moved through the
// cache).
template <bool kStream>
void multiply_blocks(const CgPass& pass, std::uint64_t first, std::uint64_t last, CgBlockSums* sums) noexcept {
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t first_row = block * kBlockRows;
    FinishProduct<kStream> rows{.p = pass.p + first_row, .q = pass.product_with_p + first_row};
    multiply_block(pass.product, block, pass.p, pass.p, rows);
    sums[block].p_dot_product = rows.sum.value();
  }
  if constexpr (kStream) _mm_sfence();
}

void multiply(const CgPass& pass, bool stream, std::uint64_t first, std::uint64_t last, CgBlockSums* sums) noexcept {
  stream ? multiply_blocks<true>(pass, first, last, sums) : multiply_blocks<false>(pass, first, last, sums);
}

// Bytes from memory, a row: 32 B read (x, r, p, q) and 16 B written (x', r'; 32 B moved through the cache, unless x'
// is x and r' is r, which were just read).
template <bool kStream>
void advance_blocks(const CgPass& pass, std::uint64_t first, std::uint64_t last, CgBlockSums* sums) noexcept {
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t begin = block * kBlockRows;
    const std::uint64_t rows = rows_of_block(pass.product.rows, block);
    const double* const q = pass.product_with_p;
    ChangeSums change;
    RowSum square;
    const std::uint64_t whole_eights = rows / kLanes * kLanes;
    for (std::uint64_t row = 0; row < whole_eights; row += kLanes) {
      Register x[kParts];
      Register r[kParts];
      for (int part = 0; part < kParts; ++part) {
        const std::uint64_t i = begin + row + static_cast<std::uint64_t>(part * kWidth);
        const Register old = load(pass.x + i);
        x[part] = old + pass.alpha * load(pass.p + i);
        r[part] = load(pass.r + i) - pass.alpha * load(q + i);
        change.add(part, absolute(x[part] - old));
        square.add(part, r[part] * r[part]);
      }
      store_line<kStream>(pass.next_x + begin + row, x);
      store_line<kStream>(pass.next_r + begin + row, r);
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
  if constexpr (kStream) _mm_sfence();
}

void advance(const CgPass& pass, bool stream, std::uint64_t first, std::uint64_t last, CgBlockSums* sums) noexcept {
  stream ? advance_blocks<true>(pass, first, last, sums) : advance_blocks<false>(pass, first, last, sums);
}

// Bytes from memory, a row: 16 B read (r', p) and 8 B written (p'; 16 B moved through the cache).
template <bool kStream>
void turn_blocks(const CgPass& pass, std::uint64_t first, std::uint64_t last) noexcept {
  const std::uint64_t end = last * kBlockRows < pass.product.rows ? last * kBlockRows : pass.product.rows;
  std::uint64_t i = first * kBlockRows;
  for (; i + kLanes <= end; i += kLanes) {
    Register p[kParts];
    for (int part = 0; part < kParts; ++part) {
      const std::uint64_t at = i + static_cast<std::uint64_t>(part * kWidth);
      p[part] = load(pass.next_r + at) + pass.beta * load(pass.p + at);
    }
    store_line<kStream>(pass.next_p + i, p);
  }
  for (; i < end; ++i) pass.next_p[i] = pass.next_r[i] + pass.beta * pass.p[i];
  if constexpr (kStream) _mm_sfence();
}

void turn(const CgPass& pass, bool stream, std::uint64_t first, std::uint64_t last) noexcept {
  stream ? turn_blocks<true>(pass, first, last) : turn_blocks<false>(pass, first, last);
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
