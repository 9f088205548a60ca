// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/field_reducer.hpp"

#include <algorithm>

#include "common/kernels/isa.hpp"
#include "common/reductions/kernels/field_kernel.hpp"
#include "common/reductions/kernels/reduction_kernel.hpp"
#include "common/reductions/reduction_scratch.hpp"

namespace ringside {

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
      found_(scratch.threads() * scratch.kernel().found_bytes / sizeof(Line)),
      left_(scratch.threads()) {
  for (std::size_t thread = 0; thread < left_.size(); ++thread) {
    left_[thread].found = &found_[thread * scratch.kernel().found_bytes / sizeof(Line)];
  }
}

void FieldReducer::begin(const void* previous) noexcept {
  ++steps_;
  previous_ = previous;
  sweep_previous_ = previous;
  for (std::size_t thread = 0; thread < scratch_.threads(); ++thread) {
    if (scratch_.field(thread) == this) scratch_.field(thread) = nullptr;
  }
}

/// Assigns the thread's state to this field.
void FieldReducer::enter(std::size_t thread) noexcept {
  FieldReducer*& field = scratch_.field(thread);
  if (field == this) return;
  if (field != nullptr) field->leave(thread);
  scratch_.kernel().clear(scratch_.state(thread));
  scratch_.exact(thread) = ExactReductions{};
  field = this;
}

/// Folds the thread's state into this field's results. The state may then be cleared.
void FieldReducer::leave(std::size_t thread) noexcept {
  Left& left = left_[thread];
  if (left.step != steps_) {
    scratch_.kernel().clear_found(left.found);
    left.exact = ExactReductions{};
    left.step = steps_;
  }
  scratch_.kernel().fold(left.found, scratch_.state(thread));
  left.exact.merge(scratch_.exact(thread));
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
    scratch_.kernel().clear_found_but_change(left.found);
    left.exact.clear_but_change();
  }
}

/// Combines the results of all other threads into the state of thread 0.
std::uint64_t FieldReducer::finish(std::uint64_t* values) noexcept {
  enter(0);
  ExactReductions exact = scratch_.exact(0);
  for (std::size_t thread = 0; thread < scratch_.threads(); ++thread) {
    if (thread > 0 && scratch_.field(thread) == this) {
      leave(thread);
      scratch_.field(thread) = nullptr;
    }
    if (left_[thread].step != steps_) continue;
    scratch_.kernel().unfold(scratch_.state(0), left_[thread].found);
    exact.merge(left_[thread].exact);
  }
  return scratch_.kernel().finish(scratch_.state(0), block_sums_.data(), entries_, previous_ != nullptr,
                                  class_of(dtype_) == DTypeClass::kInteger ? &exact : nullptr, values);
}

}  // namespace ringside
