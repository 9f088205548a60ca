// SPDX-License-Identifier: BSD-3-Clause
// The results of a field of which several nodes keep a part each, in the order of its entries. A state takes in one
// part after the other, as if one process had swept all of it: blocks of 1024 entries of the whole, 16 running sums in
// each, and Neumaier's sum over the blocks in their order. So the bits are those of FieldReducer for the whole field,
// whatever the number of parts and wherever they meet (docs/inside/kernels.md, "Parts on several nodes"). Parts that
// are boxes have no order of entries: their sums are exact.
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

/// Sums that a block has at most; ReductionKernel::sums_per_block.
inline constexpr std::size_t kMostBlockSums = 8;

/// One node's part of a field in one step. Blocks are those of the whole field.
struct FieldPart {
  std::uint64_t first = 0;  // entry of the whole; of boxes: entries of the parts before
  std::uint64_t entries = 0;
  // The entries before the first whole block, and behind the last one, as doubles, and their changes. At most 1023;
  // a part within one block has a head only.
  std::span<const double> head;
  std::span<const double> head_change;  // empty if there is no step before
  std::span<const double> block_sums;   // of the whole blocks, ReductionKernel::sums_per_block each
  std::span<const double> tail;
  std::span<const double> tail_change;
  std::span<const std::uint64_t> values;  // the node's own results of its part, as FieldReducer::finish wrote them
  const ExactSums* exact_sums = nullptr;  // of boxes, which have none of the spans above but `values`
  bool is_integer = false;
  bool has_change = false;
};

/// What is known of the entries so far.
struct WholeField {
  std::uint64_t entries = 0;  // taken in, from entry 0 on
  bool has_change = true;     // every part had a step before
  double totals[kMostBlockSums] = {};  // of the complete blocks
  double errors[kMostBlockSums] = {};
  double running[kMostBlockSums * kRunningSums] = {};  // of the block that is not complete
  // Not of an integer field.
  double min = __builtin_inf();
  double max = -__builtin_inf();
  double change_linf = 0;
  std::uint64_t non_finite = 0;
  ExactReductions exact;  // of an integer field
  std::unique_ptr<ExactSums> exact_sums;  // of boxes, in place of the sums above; null: nothing was taken in yet

  /// Entries of the block that is not complete; its running sums are 0 if there is none.
  std::uint64_t open_entries() const noexcept { return entries % kReductionBlockRows; }

  /// Requires part.first == entries. Throws std::bad_alloc, at the first part that is boxes.
  void take(const FieldPart& part);

  /// Writes the values of the field, except those that are arrays, which stay absent and 0. values: kIntegerFieldWords or
  /// kRealFieldWords words. Returns their presence bits. Requires that all entries were taken in.
  std::uint64_t finish(bool is_integer, std::uint64_t* values) const noexcept;

 private:
  void finish_ordered_sums(FieldResults& results) const noexcept;
  void finish_exact_sums(FieldResults& results) const noexcept;
  void run_on(std::span<const double> x, std::span<const double> change) noexcept;
};

}  // namespace ringside
