// SPDX-License-Identifier: BSD-3-Clause
// A copy that also hashes and reduces: one pass over memory for all three. Memory traffic for n rows: 8n bytes are
// read; 8n bytes are written with non-temporal stores; if the change is wanted, 8n bytes of the previous iterate are
// read.
//
// With AVX-512, one loop over lines does everything: it loads a line into a register; uses it for the hash, for the
// sums and extremes of the iterate and of the change, and for the bins of the histogram; and stores it at its
// destination. Values are read again from the destination only to find the largest entries, if the extremes do not
// determine these. Narrower registers cannot hold all of this. With them, the loops alternate: 1 KiB is copied and
// hashed line by line, a second copy stays in the first-level cache, and the sums and extremes are computed from that
// copy. The other reductions read the second copy when a block is complete.
//
// Either way, the bytes that are stored, hashed and reduced are the same, even if the source changes meanwhile, because
// the source is read only once.
#include <immintrin.h>

#include "common/kernels/copy_kernel.hpp"
#include "common/kernels/hash_kernel.hpp"
#include "common/kernels/line_hash.hpp"
#include "common/reductions/kernels/line_copy.hpp"
#include "common/reductions/kernels/reduction_bins.hpp"
#include "common/reductions/kernels/reduction_state.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

constexpr std::size_t kHashBlockRows = kHashBlockBytes / sizeof(double);
constexpr std::size_t kAheadRows = kAheadBytes / sizeof(double);
static_assert(kBlockRows % kHashBlockRows == 0 && kStagingRows % kBlockRows == 0);
static_assert(kHashBlockRows % kRunning == 0);  // each part consists of whole groups of rows

#if defined(__AVX512F__)

template <bool kStreaming, bool kChange>
[[gnu::always_inline]] inline void copy_block(ReductionState& state, LineHash& hash, const double* from, double* to,
                                              double* staged, bool ends_chunk, Block& block, double* sums) noexcept {
  double* const place = kStreaming ? to : staged;
  OfIterate::Running values;
  OfChange::Running changes;
  BinFinder bins(bin_of(*from));  // only a guess: the value that is copied later may differ
  const auto pass = [&](std::size_t row, std::size_t r, bool is_last) __attribute__((always_inline)) {
    __builtin_prefetch(from + row + kAheadRows);
    if constexpr (kChange) __builtin_prefetch(block.previous + row + kAheadRows);
    const Lanes x = load_once(from + row);
    take_line(hash, &x, row, is_last);
    if constexpr (kStreaming) {
      stream(place + row, x);
    } else {
      __builtin_memcpy(place + row, &x, sizeof x);
    }
    values.take(x, r);
    if constexpr (kChange) changes.take(x - load(block.previous + row), r);
    return x;
  };
  for (std::size_t part = 0; part < kBlockRows; part += kHashBlockRows) {
    const bool ends = ends_chunk && part + kHashBlockRows == kBlockRows;
#pragma GCC unroll 4
    for (std::size_t line = 0; line < kHashBlockLines; line += 4) {
      const std::size_t row = part + line * kLineRows;
      const Lanes a = pass(row, 0, false);
      const Lanes b = pass(row + kLineRows, 1, false);
      const Lanes c = pass(row + 2 * kLineRows, 0, false);
      const Lanes d = pass(row + 3 * kLineRows, 1, ends);
      bins.take(a, b, c, d);
    }
  }
  const FoundBins found = bins.found();
  block.x = place;
  block.found_bins = &found;
  state.of_iterate.add_block<Values>(values, block, sums);
  if constexpr (kChange) state.of_change.add_block<Changes>(changes, block, sums + OfIterate::kBlockSums);
}

#else

template <bool kStreaming, bool kChange>
[[gnu::always_inline]] inline void copy_block(ReductionState& state, LineHash& hash, const double* from, double* to,
                                              double* staged, bool ends_chunk, Block& block, double* sums) noexcept {
  block.x = staged;
  OfIterate::Running values;
  OfChange::Running changes;
  // Copies and reduces in turn, in parts so short that memory stays busy while the sums are computed.
  for (std::size_t part = 0; part < kBlockRows; part += kHashBlockRows) {
    for (std::size_t row = part; row < part + kHashBlockRows; row += kLineRows) {
      __builtin_prefetch(from + row + kAheadRows);
      stage_line<kStreaming>(from, to, staged, row);
      take_line(hash, staged + row, row, ends_chunk && row + kLineRows == kBlockRows);
    }
    if constexpr (kChange) {
      take_rows(block.x, block.previous, part, part + kHashBlockRows, values, changes);
    } else {
      take_rows(Values(block), part, part + kHashBlockRows, values);
    }
  }
  state.of_iterate.add_block<Values>(values, block, sums);
  if constexpr (kChange) state.of_change.add_block<Changes>(changes, block, sums + OfIterate::kBlockSums);
}

#endif

Block block_of(const CopyPart& part, std::size_t row) noexcept {
  Block block;
  block.x = nullptr;
  block.next = part.from + row + kBlockRows;
  block.previous = part.previous != nullptr ? part.previous + row : nullptr;
  block.rows = part.rows - row < kBlockRows ? part.rows - row : kBlockRows;
  block.first_row = part.first_row + row;
  return block;
}

double* sums_of(const Block& block, double* block_sums) noexcept {
  return block_sums + block.first_row / kBlockRows * kSumsPerBlock;
}

/// Copies whole blocks.
template <bool kStreaming, bool kChange>
std::uint64_t copy_blocks(ReductionState& state, double* block_sums, const CopyPart& part) noexcept {
  LineHash hash;
  for (std::size_t row = 0; row < part.rows; row += kBlockRows) {
    Block block = block_of(part, row);
    copy_block<kStreaming, kChange>(state, hash, part.from + row, kStreaming ? part.to + row : nullptr,
                                    part.staging + row, row + kBlockRows == part.rows, block,
                                    sums_of(block, block_sums));
  }
  return hash.value(part.rows * sizeof(double));
}

/// Copies the end of an iterate in two steps, first to memory that only this thread writes.
std::uint64_t copy_rest(ReductionState& state, double* block_sums, const CopyPart& part) noexcept {
  const std::size_t bytes = part.rows * sizeof(double);
  __builtin_memcpy(part.staging, part.from, bytes);
  for (std::size_t row = 0; row < part.rows; row += kBlockRows) {
    Block block = block_of(part, row);
    block.x = part.staging + row;
    double* const sums = sums_of(block, block_sums);
    state.of_iterate.add_block<Values>(block, sums);
    if (block.previous != nullptr) state.of_change.add_block<Changes>(block, sums + OfIterate::kBlockSums);
  }
  return part.to != nullptr ? copy_nontemporal_hashed(part.to, part.staging, bytes) : hash64(part.staging, bytes, 0);
}

}  // namespace

std::uint64_t copy_reduced(void* state_memory, double* block_sums, const CopyPart& part) noexcept {
  auto& state = *static_cast<ReductionState*>(state_memory);
  if (part.rows % kBlockRows != 0) return copy_rest(state, block_sums, part);
  const bool change = part.previous != nullptr;
  if (part.to == nullptr) {
    return change ? copy_blocks<false, true>(state, block_sums, part)
                  : copy_blocks<false, false>(state, block_sums, part);
  }
  return change ? copy_blocks<true, true>(state, block_sums, part) : copy_blocks<true, false>(state, block_sums, part);
}

}  // namespace ringside::RINGSIDE_ISA
