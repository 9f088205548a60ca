// SPDX-License-Identifier: BSD-3-Clause
// Reduces one field of any dtype with the threads of a team: chunk by chunk while they copy it, or in place. An f64
// field is reduced directly. Entries of other dtypes are first converted to doubles; for integers, every result that
// fits 128 bits is exact. docs/inside/kernels.md defines the results by class of dtype.
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

/// Between the calls of `begin` and `finish`, each entry must be passed exactly once to one of the functions declared
/// between these two. Any thread may pass entries, in any order, in chunks of whole blocks of kReductionBlockRows
/// entries (except the last chunk). thread: the thread's number in the team; no two threads may use the same number at
/// the same time. Allocates at construction only: 64 bytes for each block and 2.5 KiB for each thread.
class FieldReducer {
 public:
  /// entries: at least 1. `scratch`, which all fields of a step share, must outlive this object.
  FieldReducer(DType dtype, std::uint64_t entries, ReductionScratch& scratch);
  FieldReducer(const FieldReducer&) = delete;
  FieldReducer& operator=(const FieldReducer&) = delete;

  /// previous: the whole field in the previous step, or null.
  void begin(const void* previous) noexcept;

  /// Copies `bytes` bytes (a multiple of 8, at most kCopyChunkBytes; this may include up to 7 bytes after the last
  /// entry) from `from` to `to` (64-byte aligned) with non-temporal stores, like copy_nontemporal_hashed, and reduces
  /// them in the same pass. first_byte: the offset of these bytes in the field. The bytes that are stored, hashed and
  /// reduced are the same, even if another process writes to `from` meanwhile.
  std::uint64_t copy_nontemporal(std::size_t thread, void* to, const void* from, std::uint64_t first_byte,
                                 std::size_t bytes) noexcept;
  /// Like copy_nontemporal, but the caller must store the copy, which is valid until this thread's next call for any
  /// field.
  StagedBytes stage(std::size_t thread, const void* from, std::uint64_t first_byte, std::size_t bytes) noexcept;
  /// Reduces the blocks [first_block, end_block) without copying them. x: the whole field.
  void sweep(std::size_t thread, const void* x, std::uint64_t first_block, std::uint64_t end_block) noexcept;

  /// Clears all results except the change. Each entry must then be passed to `sweep` once more, which does not compute
  /// the change.
  void begin_again() noexcept;

  /// Writes the values of the field, in the order of the table (common/reductions/kernels/reduction_table.hpp). values:
  /// kIntegerFieldWords words if the dtype is an integer, otherwise kRealFieldWords. Returns the presence bits of the
  /// values.
  std::uint64_t finish(std::uint64_t* values) noexcept;

  /// The sums of each block in the step that was finished last: ReductionKernel::sums_per_block doubles for each block.
  std::span<const double> block_sums() const noexcept { return block_sums_; }

  std::uint64_t entries() const noexcept { return entries_; }
  std::uint64_t blocks() const noexcept { return (entries_ + kReductionBlockRows - 1) / kReductionBlockRows; }

 private:
  // alignas(64): the size of a cache line, which is also the alignment of `found`.
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  /// The results of one thread for this field, saved when the thread continued with another field.
  struct alignas(64) Left {
    ExactReductions exact;
    Line* found;             // ReductionKernel::found_bytes bytes
    std::uint64_t step = 0;  // the value of steps_ when they were saved; if steps_ differs now, there are no results
  };

  void enter(std::size_t thread) noexcept;
  void leave(std::size_t thread) noexcept;

  DType dtype_;
  std::uint64_t entries_;
  ReductionScratch& scratch_;
  const FieldKernel& kernel_;
  std::vector<double> block_sums_;
  std::vector<Line> found_;
  std::vector<Left> left_;  // one for each thread
  std::uint64_t steps_ = 0;
  const void* previous_ = nullptr;        // the field against which the change is computed
  const void* sweep_previous_ = nullptr;  // equal to previous_ until begin_again, then null
};

}  // namespace ringside
