// SPDX-License-Identifier: BSD-3-Clause
// The pass over the iterate, or over the part of it that is being copied, once per instruction set
// (cmake/isa_variants.cmake). Each thread keeps its results in a state that only the kernel reads; the sums of each
// block are in `block_sums`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/kernels/copy.hpp"
#include "common/reductions/kernels/exact_reductions.hpp"
#include "common/reductions/kernels/reduction_record.hpp"

namespace ringside {

/// The blocks [first_block, end_block) of an iterate, walked by one thread in one sweep.
struct SweepPart {
  const double* x;         // the whole iterate
  const double* previous;  // the whole previous iterate, or null: the results for the change then stay as they are
  std::uint64_t rows;      // of the whole iterate
  std::uint64_t first_block;
  std::uint64_t end_block;
};

inline constexpr std::size_t kStagingRows = kCopyChunkBytes / sizeof(double);

/// A chunk of an iterate on its way from one place to another.
struct CopyPart {
  const double* from;       // the chunk: another process may write there; each byte is read once
  double* to;               // its place, 64-byte aligned, written past the cache; null: the copy stays in `staging`
  const double* previous;   // the same rows of the previous iterate, or null
  double* staging;          // kStagingRows doubles of this thread's, 64-byte aligned
  std::uint64_t first_row;  // of the iterate: the first of a block
  std::size_t rows;         // whole blocks, except at the end of the iterate; at most kStagingRows
};

/// Row r of a block is added to running sum r modulo this.
inline constexpr std::size_t kRunningSums = 16;

struct ReductionKernel {
  std::size_t block_rows;
  std::size_t sums_per_block;  // with padding
  std::size_t sums;            // without
  // Multiples of 64; states, and what was found, are 64-byte aligned.
  std::size_t state_bytes;
  std::size_t found_bytes;

  /// Resets `state`.
  void (*clear)(void* state) noexcept;
  /// Resets `state`, except the results for the change.
  void (*clear_but_change)(void* state) noexcept;
  /// Reduces the blocks; block_sums: sums_per_block doubles for each block of the iterate.
  void (*sweep)(void* state, double* block_sums, const SweepPart& part) noexcept;
  /// Copies the rows and reduces what it copied; returns hash64 of it. No fence.
  std::uint64_t (*copy)(void* state, double* block_sums, const CopyPart& part) noexcept;

  /// As `clear` and `clear_but_change`, of what was found.
  void (*clear_found)(void* found) noexcept;
  void (*clear_found_but_change)(void* found) noexcept;
  /// Takes in a state, which may be cleared afterwards.
  void (*fold)(void* found, const void* state) noexcept;
  /// The reverse: the state takes in what was found.
  void (*unfold)(void* state, const void* found) noexcept;

  /// Of a block that is not complete: adds the terms of some values, or of some changes, to its running sums, of which
  /// it has kRunningSums for each sum. taken: values of the block before these.
  void (*run_on)(double* running, bool of_change, std::uint64_t taken, const double* values, std::size_t count) noexcept;
  /// The sums of a block from its running sums.
  void (*fold_running)(const double* running, double* sums) noexcept;
  /// Adds the sums of blocks, in their order, to totals (sums_per_block of them), and what that rounds away to `errors`.
  void (*add_blocks)(const double* block_sums, std::uint64_t blocks, double* totals, double* errors) noexcept;
  /// Writes the results that are sums. totals: of the sums of all blocks, settled.
  void (*finish_sums)(const double* totals, bool has_change, FieldResults& results) noexcept;

  /// Adds up the sums of all blocks, and writes the values of the field. state: one that has taken in what all threads
  /// found. exact: of an integer field; null: of another one. values: kIntegerFieldWords or kRealFieldWords words
  /// (reduction_table.hpp). Returns the presence bits.
  std::uint64_t (*finish)(const void* state, const double* block_sums, std::uint64_t rows, bool has_change,
                          const ExactReductions* exact, std::uint64_t* values) noexcept;
};

/// A total with what was rounded away. Beside an infinite total that is infinity minus infinity and means nothing. Always
/// the same NaN: which of several would result depends on the order of operands, which the compiler chooses.
[[gnu::always_inline]] inline double settled_total(double total, double error) noexcept {
  const double settled = __builtin_isfinite(total) ? total + error : total;
  return settled != settled ? __builtin_nan("") : settled;
}

namespace plain {
extern const ReductionKernel reduction_kernel;
}
namespace avx2 {
extern const ReductionKernel reduction_kernel;
}
namespace avx512 {
extern const ReductionKernel reduction_kernel;
}

}  // namespace ringside
