// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/field_reducer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/kernels/isa.hpp"
#include "common/reductions/kernels/field_kernel.hpp"
#include "common/reductions/kernels/reduction_kernel.hpp"
#include "common/reductions/reduction_scratch.hpp"

namespace ringside {
namespace {

/// The order of the top entries: no two entries are equal in it.
bool before(const TopEntry& a, const TopEntry& b) noexcept {
  return a.value > b.value || (a.value == b.value && a.row < b.row);
}

void merge_top(Reductions& into, const Reductions& other) noexcept {
  TopEntry merged[2 * kTopEntries];
  const TopEntry* const end =
      std::merge(into.top, into.top + into.top_count, other.top, other.top + other.top_count, merged, before);
  into.top_count = std::min<std::uint64_t>(kTopEntries, static_cast<std::uint64_t>(end - merged));
  std::copy_n(merged, into.top_count, into.top);
}

/// Takes in what depends on no order: extremes, counts, ranks. `other`: of other entries. linf follows from the
/// extremes; the sums do not take part.
void merge(Reductions& into, const Reductions& other) noexcept {
  into.min = std::min(into.min, other.min);
  into.max = std::max(into.max, other.max);
  into.linf = std::max(std::abs(into.min), std::abs(into.max));
  into.change_linf = std::max(into.change_linf, other.change_linf);
  into.non_finite += other.non_finite;
  merge_top(into, other);
  for (std::size_t bin = 0; bin < kHistogramBins; ++bin) into.histogram[bin] += other.histogram[bin];
}

/// What `merge` gives for no entries.
void clear_but_change(Reductions& reductions) noexcept {
  const double change_linf = reductions.change_linf;
  reductions = Reductions{};
  reductions.min = std::numeric_limits<double>::infinity();
  reductions.max = -reductions.min;
  reductions.change_linf = change_linf;
}

}  // namespace

const FieldKernel& field_kernel_of(DType dtype) noexcept {
  const FieldKernels& kernels = *select(&plain::field_kernels, &avx2::field_kernels, &avx512::field_kernels);
  return kernels[static_cast<std::uint16_t>(dtype) - 1];
}

FieldReducer::FieldReducer(DType dtype, std::uint64_t entries, ReductionScratch& scratch)
    : dtype_(dtype),
      entries_(entries),
      scratch_(scratch),
      kernel_(field_kernel_of(dtype)),
      block_sums_(blocks() * scratch.kernel().sums_per_block),
      left_(scratch.threads()) {}

void FieldReducer::begin(const void* previous) noexcept {
  ++steps_;
  previous_ = previous;
  sweep_previous_ = previous;
  for (std::size_t thread = 0; thread < scratch_.threads(); ++thread) {
    if (scratch_.field(thread) == this) scratch_.field(thread) = nullptr;
  }
}

/// From here on the thread's state is this field's.
void FieldReducer::enter(std::size_t thread) noexcept {
  FieldReducer*& field = scratch_.field(thread);
  if (field == this) return;
  if (field != nullptr) field->leave(thread);
  scratch_.kernel().clear(scratch_.state(thread));
  scratch_.exact(thread) = ExactReductions{};
  field = this;
}

/// Folds the thread's state. It may then be cleared.
void FieldReducer::leave(std::size_t thread) noexcept {
  Left& left = left_[thread];
  const auto fold = [&](Reductions& reductions) {
    constexpr std::uint64_t kNoRows = 0;  // and no block sums: other threads are still writing them
    scratch_.kernel().finish(scratch_.state(thread), 1, block_sums_.data(), kNoRows, true, reductions);
  };
  if (left.step == steps_) {
    Reductions more;
    fold(more);
    merge(left.found.reductions, more);
    left.found.exact.merge(scratch_.exact(thread));
  } else {
    fold(left.found.reductions);
    left.found.exact = scratch_.exact(thread);
    left.step = steps_;
  }
}

std::uint64_t FieldReducer::copy_nontemporal(std::size_t thread, void* to, const void* from, std::uint64_t first_byte,
                                             std::size_t bytes) noexcept {
  enter(thread);
  const std::uint64_t first_entry = first_byte / bytes_of(dtype_);
  const std::uint64_t entries = std::min(bytes / bytes_of(dtype_), entries_ - first_entry);
  const void* previous = previous_ != nullptr ? static_cast<const std::byte*>(previous_) + first_byte : nullptr;
  return kernel_.copy(scratch_.state(thread), scratch_.exact(thread), block_sums_.data(),
                      {from, to, previous, scratch_.staging(thread), first_entry, entries, bytes});
}

StagedBytes FieldReducer::stage(std::size_t thread, const void* from, std::uint64_t first_byte,
                                std::size_t bytes) noexcept {
  return {scratch_.staging(thread), copy_nontemporal(thread, nullptr, from, first_byte, bytes)};
}

void FieldReducer::sweep(std::size_t thread, const void* x, std::uint64_t first_block,
                         std::uint64_t end_block) noexcept {
  enter(thread);
  kernel_.sweep(scratch_.state(thread), scratch_.exact(thread), block_sums_.data(),
                {x, sweep_previous_, entries_, first_block, end_block});
}

void FieldReducer::begin_again() noexcept {
  sweep_previous_ = nullptr;
  for (std::size_t thread = 0; thread < scratch_.threads(); ++thread) {
    if (scratch_.field(thread) == this) {
      scratch_.kernel().clear_but_change(scratch_.state(thread));
      scratch_.exact(thread).clear_but_change();
    }
    Left& left = left_[thread];
    if (left.step != steps_) continue;
    clear_but_change(left.found.reductions);
    left.found.exact.clear_but_change();
  }
}

const FieldReductions& FieldReducer::finish() noexcept {
  bool alone = true;
  for (std::size_t thread = 0; thread < scratch_.threads(); ++thread) {
    const FieldReducer* const field = scratch_.field(thread);
    alone = alone && (field == this || field == nullptr) && left_[thread].step != steps_;
  }
  result_.exact = ExactReductions{};
  if (alone) {
    finish_alone();
  } else {
    finish_shared();
  }
  if (class_of(dtype_) == DTypeClass::kInteger) {
    result_.reductions.mean = static_cast<double>(result_.exact.sum) / static_cast<double>(entries_);
  }
  return result_;
}

/// No thread worked for another field: the kernel combines their states.
void FieldReducer::finish_alone() noexcept {
  for (std::size_t thread = 0; thread < scratch_.threads(); ++thread) {
    if (scratch_.field(thread) == this) {
      result_.exact.merge(scratch_.exact(thread));
    } else {
      scratch_.kernel().clear(scratch_.state(thread));
    }
  }
  scratch_.kernel().finish(scratch_.state(0), scratch_.threads(), block_sums_.data(), entries_, previous_ != nullptr,
                           result_.reductions);
}

/// Combines what the threads found before they left. A cleared state adds the block sums.
void FieldReducer::finish_shared() noexcept {
  Reductions found;
  clear_but_change(found);
  for (std::size_t thread = 0; thread < scratch_.threads(); ++thread) {
    FieldReducer*& field = scratch_.field(thread);
    if (field != nullptr && (field == this || thread == 0)) {
      field->leave(thread);
      field = nullptr;
    }
    if (left_[thread].step != steps_) continue;
    merge(found, left_[thread].found.reductions);
    result_.exact.merge(left_[thread].found.exact);
  }
  Reductions& result = result_.reductions;
  scratch_.kernel().clear(scratch_.state(0));
  scratch_.kernel().finish(scratch_.state(0), 1, block_sums_.data(), entries_, previous_ != nullptr, result);
  found.rows = result.rows;
  found.sum = result.sum;
  found.mean = result.mean;
  found.l1 = result.l1;
  found.l2 = result.l2;
  found.has_change = result.has_change;
  found.change_l1 = result.change_l1;
  found.change_l2 = result.change_l2;
  if (previous_ == nullptr) found.change_linf = 0;
  result = found;
}

}  // namespace ringside
