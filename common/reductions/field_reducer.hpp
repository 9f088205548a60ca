// SPDX-License-Identifier: BSD-3-Clause
// Reduces one field of any dtype, by the threads of a team: while they copy it, chunk by chunk, or where it lies. f64
// is reduced as it is. Entries of other dtypes are widened to doubles and reduced alike; of integers, what 128 bits
// hold is exact. docs/inside/kernels.md: definitions by class of dtype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/kernels/copy.hpp"
#include "common/reductions/kernels/exact_reductions.hpp"
#include "common/reductions/kernels/reduction_record.hpp"
#include "common/schema/dtype.hpp"

namespace ringside {

class ReductionScratch;
struct FieldKernel;

/// A copy of some bytes of a field, and their hash64.
struct StagedBytes {
  const void* bytes;
  std::uint64_t hash;
};

/// Between `begin` and `finish` each entry is passed once to one of the functions between them, in chunks of whole
/// blocks of kReductionBlockRows entries (except the last one), by any thread, in any order. thread: its number in the
/// team; no two threads use a number at a time. Allocates at construction only: 64 bytes for each block and 2.5 KiB for
/// each thread.
class FieldReducer {
 public:
  /// entries: at least 1. scratch: outlives this object; the fields of a step share it.
  FieldReducer(DType dtype, std::uint64_t entries, ReductionScratch& scratch);
  FieldReducer(const FieldReducer&) = delete;
  FieldReducer& operator=(const FieldReducer&) = delete;

  /// previous: the whole field of the step before, or null.
  void begin(const void* previous) noexcept;

  /// Copies `bytes` bytes (a multiple of 8, at most kCopyChunkBytes; those up to 7 behind the last entry included)
  /// from `from` to `to` (64-byte aligned) past the cache, as copy_nontemporal_hashed does, and reduces them in the
  /// same pass. first_byte: where they lie in the field. The bytes that are stored, hashed and reduced are the same,
  /// even if another process writes to `from` meanwhile.
  std::uint64_t copy_nontemporal(std::size_t thread, void* to, const void* from, std::uint64_t first_byte,
                                 std::size_t bytes) noexcept;
  /// The same, but the caller stores the copy, which is valid until this thread's next call for any field.
  StagedBytes stage(std::size_t thread, const void* from, std::uint64_t first_byte, std::size_t bytes) noexcept;
  /// Reduces the blocks [first_block, end_block) without copying them. x: the whole field.
  void sweep(std::size_t thread, const void* x, std::uint64_t first_block, std::uint64_t end_block) noexcept;

  /// Forgets all but the change: each entry is to be passed to `sweep` once more, which computes no change.
  void begin_again() noexcept;

  /// Writes the values of the field, in the order of the table (common/reductions/kernels/reduction_table.hpp).
  /// values: kIntegerFieldWords words if the dtype is an integer, else kRealFieldWords. Returns their presence bits.
  std::uint64_t finish(std::uint64_t* values) noexcept;

  /// The sums of each block, ReductionKernel::sums_per_block of them, of the step that was finished last.
  std::span<const double> block_sums() const noexcept { return block_sums_; }

  std::uint64_t entries() const noexcept { return entries_; }
  std::uint64_t blocks() const noexcept { return (entries_ + kReductionBlockRows - 1) / kReductionBlockRows; }

 private:
  // 64: one cache line, which what was found begins at.
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  /// What a thread found of this field before it left it.
  struct alignas(64) Left {
    ExactReductions exact;
    Line* found;             // of ReductionKernel::found_bytes
    std::uint64_t step = 0;  // a number of steps_; if it is another one, nothing was found in this step
  };

  void enter(std::size_t thread) noexcept;
  void leave(std::size_t thread) noexcept;

  DType dtype_;
  std::uint64_t entries_;
  ReductionScratch& scratch_;
  const FieldKernel& kernel_;
  std::vector<double> block_sums_;
  std::vector<Line> found_;
  std::vector<Left> left_;  // by thread
  std::uint64_t steps_ = 0;
  const void* previous_ = nullptr;        // the change is computed against it
  const void* sweep_previous_ = nullptr;  // the same, until begin_again
};

}  // namespace ringside
