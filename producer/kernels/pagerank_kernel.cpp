// SPDX-License-Identifier: BSD-3-Clause
// Per row:   x_k = base + sum,   contribution = x_k * scale,   and the block's sums of x_k - x_{k-1} and of dangling
// x_k.
//
// Bytes from memory, a row, besides those of the matrix (row_product_kernel.hpp):
//    8  x_{k-1}, read
//    8  x_k, written (16 if the stores use the cache)
//   16  contributions, read and written in the same way, if the product does not have the scales
//    8  scale, read in groups of rows whose scales differ or are 0; not if no row is dangling and the product has them
//    4  place, read if contributions have their own places (they are then written through the cache)
// So a mesh takes 16 B a row; a loop that only reads and writes as much takes 2.4 of the 2.9 ms of grid:2000.
#include "producer/kernels/pagerank_kernel.hpp"

#include "producer/kernels/row_product_kernel.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

/// Where the contributions of x_k are stored.
enum class Made {
  kNowhere,  // the product has the scales, so there are no contributions
  kCached,
  kStreamed  // with non-temporal stores
};

/// The solver's half of the iteration, for one block. Its pointers begin at the block's first row.
template <bool kStream, Made kMade>
struct FinishRows {
  double base;
  const double* previous;
  double* next;
  const double* scale;  // null: no row is dangling, and there are no contributions
  const double* group_scale;
  double* made;  // the contributions
  ChangeSums change = {};
  Register dangling[kParts] = {};

  [[gnu::always_inline]] void eight(std::uint64_t row, const Register* sum) noexcept {
    Register x[kParts];
    for (int part = 0; part < kParts; ++part) {
      x[part] = base + sum[part];
      change.add(part, absolute(x[part] - load(previous + row + part * kWidth)));
    }
    store_line<kStream>(next + row, x);                       // `next` may be `previous`
    if (kMade == Made::kNowhere && scale == nullptr) return;  // else x becomes the contributions
    const double shared = group_scale[row / kGroupRows];
    if (shared != kMixedGroup) {
      for (int part = 0; part < kParts; ++part) x[part] = x[part] * shared;
    } else {
      for (int part = 0; part < kParts; ++part) {
        const Register own = load(scale + row + part * kWidth);
        dangling[part] += own == 0.0 ? x[part] : Register{};
        x[part] = x[part] * own;
      }
    }
    if constexpr (kMade != Made::kNowhere) store_line<kMade == Made::kStreamed>(made + row, x);
  }

  void one(std::uint64_t row, double sum) noexcept {
    const double x = base + sum;
    change.add_row(row, __builtin_fabs(x - previous[row]));
    next[row] = x;
    if (kMade == Made::kNowhere && scale == nullptr) return;
    if (scale[row] == 0.0) dangling[row % kLanes / kWidth][row % kLanes % kWidth] += x;
    if constexpr (kMade != Made::kNowhere) made[row] = x * scale[row];
  }
};

/// from: the vector with which the rows are multiplied. made: the block's contributions.
template <bool kStream, Made kMade>
inline void iterate_block(const PagerankPass& pass, std::uint64_t block, const double* from, double* made,
                          PagerankBlockSums& sums) noexcept {
  const std::uint64_t first_row = block * kBlockRows;
  FinishRows<kStream, kMade> rows{.base = pass.base,
                                  .previous = pass.previous + first_row,
                                  .next = pass.next + first_row,
                                  .scale = pass.scale == nullptr ? nullptr : pass.scale + first_row,
                                  .group_scale = pass.group_scale + first_row / kGroupRows,
                                  .made = made};
  multiply_block(pass.product, block, from, pass.previous, rows);
  sums = {sum_of_lanes(rows.change.l1), max_of_lanes(rows.change.linf), sum_of_lanes(rows.dangling)};
}

template <bool kStream>
void iterate_blocks(const PagerankPass& pass, std::uint64_t first, std::uint64_t last,
                    PagerankBlockSums* sums) noexcept {
  alignas(64) double made[kBlockRows];
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t first_row = block * kBlockRows;
    if (pass.contribution == nullptr) {
      iterate_block<kStream, Made::kNowhere>(pass, block, pass.previous, nullptr, sums[block]);
    } else if (pass.place == nullptr) {
      iterate_block<kStream, kStream ? Made::kStreamed : Made::kCached>(
          pass, block, pass.contribution, pass.next_contribution + first_row, sums[block]);
    } else {
      iterate_block<kStream, Made::kCached>(pass, block, pass.contribution, made, sums[block]);
      const std::uint64_t rows = rows_of_block(pass.product.rows, block);
      for (std::uint64_t row = 0; row < rows; ++row) pass.next_contribution[pass.place[first_row + row]] = made[row];
    }
  }
  if constexpr (kStream) _mm_sfence();
}

void iterate(const PagerankPass& pass, bool stream, std::uint64_t first, std::uint64_t last,
             PagerankBlockSums* sums) noexcept {
  stream ? iterate_blocks<true>(pass, first, last, sums) : iterate_blocks<false>(pass, first, last, sums);
}

void prepare(const PagerankPass& pass, std::uint64_t first, std::uint64_t last, PagerankBlockSums* sums) noexcept {
  for (std::uint64_t block = first; block < last; ++block) {
    const std::uint64_t begin = block * kBlockRows;
    const std::uint64_t end = begin + rows_of_block(pass.product.rows, block);
    Register dangling[kParts] = {};
    for (std::uint64_t i = begin; i < end; ++i) {
      const int element = static_cast<int>(i % kLanes);
      if (pass.scale == nullptr) continue;
      if (pass.scale[i] == 0.0) dangling[element / kWidth][element % kWidth] += pass.previous[i];
      if (pass.next_contribution == nullptr) continue;
      pass.next_contribution[pass.place == nullptr ? i : pass.place[i]] = pass.previous[i] * pass.scale[i];
    }
    sums[block] = {0, 0, sum_of_lanes(dangling)};
  }
}

}  // namespace

const PagerankKernels kPagerankKernels = {iterate, prepare};

}  // namespace ringside::RINGSIDE_ISA
