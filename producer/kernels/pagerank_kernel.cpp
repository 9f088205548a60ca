// SPDX-License-Identifier: BSD-3-Clause
// Handles a block of rows at a time, in two halves: first the product of the block's rows, written to 8 kB that stay in
// the first-level cache; then one sweep over these 8 kB, which finishes the iterate. The arithmetic uses registers of
// the instruction set's own width; eight logical lanes are one, two or four registers.
#include "producer/kernels/pagerank_kernel.hpp"

#include "producer/kernels/row_product_kernel.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

// ---- Second half: x = base + sum, contribution = x * scale, and the block's sums ----
//
// Per row from memory: 8 B read (previous), 16 B written (next, next_contribution; 32 B moved if the stores use the
// cache). In groups of rows whose scales differ, 8 B more are read (scale), and 4 B more (place) if contributions have
// their own places. Together with the first half, this is 32 B per row for a mesh.

struct PagerankSums {
  ChangeSums change;
  Register dangling[kParts] = {};
};

// Finishes the rows [row, end) of the block that starts at first_row, eight rows at a time. kShared: all rows have the
// scale `shared`, which is not 0. made: the block's contributions.
template <bool kStream, bool kStreamMade, bool kShared>
inline void finish_rows(const PagerankPass& pass, std::uint64_t first_row, std::uint64_t row, std::uint64_t end,
                        double shared, const double* sum, double* made, PagerankSums& sums) noexcept {
  for (; row < end; row += kLanes) {
    for (int part = 0; part < kParts; ++part) {
      const std::uint64_t offset = row + static_cast<std::uint64_t>(part * kWidth);
      const std::uint64_t i = first_row + offset;
      const Register x = pass.base + load(sum + offset);
      sums.change.add(part, absolute(x - load(pass.previous + i)));
      store<kStream>(pass.next + i, x);
      if constexpr (kShared) {
        store<kStreamMade>(made + offset, x * shared);
      } else {
        const Register scale = load(pass.scale + i);
        sums.dangling[part] += scale == 0.0 ? x : Register{};
        store<kStreamMade>(made + offset, x * scale);
      }
    }
  }
}

template <bool kStream, bool kStreamMade>
inline void finish_block(const PagerankPass& pass, std::uint64_t first_row, std::uint64_t rows, const double* sum,
                         double* made, PagerankBlockSums& block) noexcept {
  PagerankSums sums;
  const std::uint64_t whole_eights = rows / kLanes * kLanes;
  for (std::uint64_t row = 0; row < whole_eights; row += kGroupRows) {
    const std::uint64_t end = row + kGroupRows < whole_eights ? row + kGroupRows : whole_eights;
    const double shared = pass.group_scale[(first_row + row) / kGroupRows];
    if (shared > 0) {
      finish_rows<kStream, kStreamMade, true>(pass, first_row, row, end, shared, sum, made, sums);
    } else {
      finish_rows<kStream, kStreamMade, false>(pass, first_row, row, end, shared, sum, made, sums);
    }
  }
  for (std::uint64_t row = whole_eights; row < rows; ++row) {
    const std::uint64_t i = first_row + row;
    const double x = pass.base + sum[row];
    sums.change.add_row(row, __builtin_fabs(x - pass.previous[i]));
    if (pass.scale[i] == 0.0) sums.dangling[row % kLanes / kWidth][row % kLanes % kWidth] += x;
    pass.next[i] = x;
    made[row] = x * pass.scale[i];
  }
  block.change_l1 = sum_of_lanes(sums.change.l1);
  block.change_linf = max_of_lanes(sums.change.linf);
  block.dangling = sum_of_lanes(sums.dangling);
}

template <bool kStream>
void iterate_blocks(const PagerankPass& pass, std::uint64_t first, std::uint64_t last,
                    PagerankBlockSums* sums) noexcept {
  alignas(64) double sum[kBlockRows];
  alignas(64) double made[kBlockRows];
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t first_row = block * kBlockRows;
    const std::uint64_t rows = rows_of_block(pass.product.rows, block);
    sum_block(pass.product, block, pass.contribution, pass.previous, sum);
    if (pass.place == nullptr) {
      finish_block<kStream, kStream>(pass, first_row, rows, sum, pass.next_contribution + first_row, sums[block]);
    } else {
      finish_block<kStream, false>(pass, first_row, rows, sum, made, sums[block]);
      for (std::uint64_t row = 0; row < rows; ++row) pass.next_contribution[pass.place[first_row + row]] = made[row];
    }
  }
  if constexpr (kStream) _mm_sfence();
}

void iterate(const PagerankPass& pass, bool stream, std::uint64_t first, std::uint64_t last,
             PagerankBlockSums* sums) noexcept {
  if (stream) {
    iterate_blocks<true>(pass, first, last, sums);
  } else {
    iterate_blocks<false>(pass, first, last, sums);
  }
}

void prepare(const PagerankPass& pass, std::uint64_t first, std::uint64_t last, PagerankBlockSums* sums) noexcept {
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t begin = block * kBlockRows;
    const std::uint64_t end = begin + rows_of_block(pass.product.rows, block);
    Register dangling[kParts] = {};
    for (std::uint64_t i = begin; i < end; ++i) {
      const int element = static_cast<int>(i % kLanes);
      if (pass.scale[i] == 0.0) dangling[element / kWidth][element % kWidth] += pass.previous[i];
      pass.next_contribution[pass.place == nullptr ? i : pass.place[i]] = pass.previous[i] * pass.scale[i];
    }
    sums[block] = {0, 0, sum_of_lanes(dangling)};
  }
}

}  // namespace

const PagerankKernels kPagerankKernels = {iterate, prepare};

}  // namespace ringside::RINGSIDE_ISA
