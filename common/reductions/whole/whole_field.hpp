// SPDX-License-Identifier: BSD-3-Clause
// The results of a field of which several nodes each keep a part. The parts are added one after the other, in the order
// of the field's entries, as if one process had swept the whole field: blocks of 1024 entries of the whole field, 16
// running sums in each block, and Neumaier's sum over the blocks in their order. So the bits are the same as those of
// FieldReducer for the whole field, no matter how many parts there are and where they meet (docs/inside/kernels.md,
// "Parts on several nodes"). Parts that are boxes have no order of entries, so their sums are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/reductions/kernels/exact_reductions.hpp"
#include "common/reductions/kernels/reduction_kernel.hpp"
#include "common/reductions/kernels/reduction_record.hpp"
#include "common/reductions/whole/exact_sums.hpp"

namespace ringside {

/// The largest number of sums in a block; see ReductionKernel::sums_per_block.
inline constexpr std::size_t kMostBlockSums = 8;

/// One node's part of a field in one step. The blocks are blocks of the whole field.
struct FieldPart {
  std::uint64_t first = 0;  // index of its first entry in the whole field; for boxes: the number in earlier parts
  std::uint64_t entries = 0;
  // The entries before the first whole block and the entries after the last whole block, as doubles, and their changes.
  // Each has at most 1023 entries; a part within one block has only a head.
  std::span<const double> head;
  std::span<const double> head_change;  // empty if there is no previous step
  std::span<const double> block_sums;   // for each whole block, ReductionKernel::sums_per_block sums
  std::span<const double> tail;
  std::span<const double> tail_change;
  std::span<const std::uint64_t> values;  // the node's own results for its part, from FieldReducer::finish
  const ExactSums* exact_sums = nullptr;  // null unless the part is boxes; boxes have only the span `values`
  bool is_integer = false;
  bool has_change = false;
};

/// The combined results of the entries added so far.
struct WholeField {
  std::uint64_t entries = 0;  // number of entries added so far, from entry 0 on
  bool has_change = true;     // whether every part had a previous step
  double totals[kMostBlockSums] = {};  // sums of the complete blocks
  double errors[kMostBlockSums] = {};
  double running[kMostBlockSums * kRunningSums] = {};  // sums of the block that is not yet complete
  // Unused for an integer field.
  double min = __builtin_inf();
  double max = -__builtin_inf();
  double change_linf = 0;
  std::uint64_t non_finite = 0;
  ExactReductions exact;  // for an integer field
  std::unique_ptr<ExactSums> exact_sums;  // for boxes, instead of the sums above; null until the first box is added

  /// The number of entries in the block that is not yet complete; if it is 0, the running sums are also 0.
  std::uint64_t open_entries() const noexcept { return entries % kReductionBlockRows; }

  /// Adds a part. Requires part.first == entries. May throw std::bad_alloc for the first part that consists of boxes.
  void take(const FieldPart& part);

  /// Writes the values of the field, except arrays, which stay absent and 0. values: kIntegerFieldWords or
  /// kRealFieldWords words. Returns the presence bits of these values. Requires that all entries have been added.
  std::uint64_t finish(bool is_integer, std::uint64_t* values) const noexcept;

 private:
  void finish_ordered_sums(FieldResults& results) const noexcept;
  void finish_exact_sums(FieldResults& results) const noexcept;
  void run_on(std::span<const double> x, std::span<const double> change) noexcept;
};

}  // namespace ringside
