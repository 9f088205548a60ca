// SPDX-License-Identifier: BSD-3-Clause
// The pass over the iterate, or over a part that is being copied, compiled once for each instruction set
// (cmake/isa_variants.cmake). Each thread keeps its results in a state that only the kernel reads; the sums of each
// block are in `block_sums`.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/kernels/copy.hpp"
#include "common/reductions/kernels/exact_reductions.hpp"
#include "common/reductions/kernels/reduction_record.hpp"

namespace ringside {

/// The blocks [first_block, end_block) of an iterate, which one thread reduces in one sweep.
struct SweepPart {
  const double* x;         // the whole iterate
  const double* previous;  // the whole previous iterate; null: keep the results for the change
  std::uint64_t rows;      // the number of rows of the whole iterate
  std::uint64_t first_block;
  std::uint64_t end_block;
};

inline constexpr std::size_t kStagingRows = kCopyChunkBytes / sizeof(double);

/// A chunk of an iterate that is being copied.
struct CopyPart {
  const double* from;       // the chunk; each byte is read once, because another process may write there
  double* to;               // destination of non-temporal stores, 64-byte aligned; null: copy only to `staging`
  const double* previous;   // the same rows of the previous iterate, or null
  double* staging;          // kStagingRows doubles of this thread, 64-byte aligned
  std::uint64_t first_row;  // index in the iterate of the chunk's first row; must begin a block
  std::size_t rows;         // whole blocks, except at the end of the iterate; at most kStagingRows
};

/// The number of running sums: row r of a block is added to running sum r modulo this number.
inline constexpr std::size_t kRunningSums = 16;

struct ReductionKernel {
  std::size_t block_rows;
  std::size_t sums_per_block;  // including padding
  std::size_t sums;            // without padding
  // Both sizes are multiples of 64; states and found results are 64-byte aligned.
  std::size_t state_bytes;
  std::size_t found_bytes;

  /// Resets `state`.
  void (*clear)(void* state) noexcept;
  /// Resets `state`, except the results for the change.
  void (*clear_but_change)(void* state) noexcept;
  /// Reduces the blocks. block_sums: sums_per_block doubles for each block of the iterate.
  void (*sweep)(void* state, double* block_sums, const SweepPart& part) noexcept;
  /// Copies the rows and reduces the copy. Returns its hash64. Has no fence.
  std::uint64_t (*copy)(void* state, double* block_sums, const CopyPart& part) noexcept;

  /// Like `clear` and `clear_but_change`, for found results.
  void (*clear_found)(void* found) noexcept;
  void (*clear_found_but_change)(void* found) noexcept;
  /// Adds the results of `state` to `found`; the state may be cleared afterwards.
  void (*fold)(void* found, const void* state) noexcept;
  /// The reverse: adds the results of `found` to `state`.
  void (*unfold)(void* state, const void* found) noexcept;

  /// For a block that is not complete: adds the terms of some values, or of some changes, to the block's running sums
  /// (kRunningSums for each sum). taken: the number of values of the block that were added before.
  void (*run_on)(double* running, bool of_change, std::uint64_t taken, const double* values, std::size_t count) noexcept;
  /// Computes the sums of a block from its running sums.
  void (*fold_running)(const double* running, double* sums) noexcept;
  /// Adds the sums of blocks, in their order, to `totals` (sums_per_block doubles), and the rounding errors to
  /// `errors`.
  void (*add_blocks)(const double* block_sums, std::uint64_t blocks, double* totals, double* errors) noexcept;
  /// Writes the results that are sums. totals: the settled totals of the sums of all blocks.
  void (*finish_sums)(const double* totals, bool has_change, FieldResults& results) noexcept;

  /// Adds up the sums of all blocks, and writes the values of the field. state: contains the results of all threads.
  /// exact: for an integer field; null for any other field. values: kIntegerFieldWords or kRealFieldWords words
  /// (reduction_table.hpp). Returns the presence bits.
  std::uint64_t (*finish)(const void* state, const double* block_sums, std::uint64_t rows, bool has_change,
                          const ExactReductions* exact, std::uint64_t* values) noexcept;
};

/// The total with its rounding error added. If the total is infinite, the error would be infinity minus infinity, so it
/// is ignored. A NaN result is always the same NaN: otherwise, the order of operands, which the compiler chooses, would
/// determine which of several NaNs results.
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
