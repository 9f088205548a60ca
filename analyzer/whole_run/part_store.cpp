// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/whole_run/part_store.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/platform/error.hpp"

namespace ringside {

PartStore::PartStore(std::size_t words)
    : cells_(std::clamp(kBytes / std::max<std::size_t>(words * sizeof(std::uint64_t), 1), kFewest, kMost)),
      stored_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!stored_event_.valid()) throw system_error("an eventfd cannot be made: {}", errno_text(errno));
  words_.resize(words * (cells_.size() + 1));  // touches every page
  for (std::size_t c = 0; c < cells_.size(); ++c) cells_[c].part.words = std::span(words_).subspan(c * words, words);
  newest_.part.words = std::span(words_).last(words);
}

void PartStore::begin(std::uint64_t first_step) noexcept {
  end_step_.store(first_step);
  freed_ = next_ = first_step;
}

PartStore::Part& PartStore::place() noexcept {
  Cell& next = cell(next_);
  filling_ = next.is_full.load(std::memory_order_acquire) ? &newest_ : &next;
  // From here on, the reserved place does not have the words of the step before any more.
  if (filling_ == &newest_) end_step_.store(next_, std::memory_order_release);
  return filling_->part;
}

void PartStore::stored() noexcept {
  if (filling_ == nullptr) end();
  const std::uint64_t step = next_++;
  Cell* const filled = std::exchange(filling_, nullptr);
  if (filled != nullptr) filled->step = step;
  // The round's thread may not read the reserved place, which the next step may overwrite. So it learns of the step
  // there only when it is known whether the step is lost.
  const bool is_reserved = filled == &newest_;
  if (filled != nullptr && !is_reserved) filled->is_full.store(true, std::memory_order_release);
  end_step_.store(is_reserved ? step : next_, std::memory_order_release);
  eventfd_write(stored_event_.get(), 1);
}

void PartStore::end() noexcept {
  if (end_step_.load(std::memory_order_relaxed) == next_) return;
  newest_.is_full.store(true, std::memory_order_release);
  end_step_.store(next_, std::memory_order_release);
  eventfd_write(stored_event_.get(), 1);
}

void PartStore::seen() noexcept {
  eventfd_t count = 0;
  eventfd_read(stored_event_.get(), &count);
}

const PartStore::Cell* PartStore::full_cell(std::uint64_t step) const noexcept {
  for (const Cell* const found : {&cells_[step % cells_.size()], &newest_}) {
    if (found->is_full.load(std::memory_order_acquire) && found->step == step) return found;
  }
  return nullptr;
}

const PartStore::Part* PartStore::find(std::uint64_t step) const noexcept {
  const Cell* const found = full_cell(step);
  return found == nullptr ? nullptr : &found->part;
}

void PartStore::free_before(std::uint64_t step) noexcept {
  const std::uint64_t end = std::min(step, end_step());
  for (; freed_ < end; ++freed_) {
    const Cell* const full = full_cell(freed_);
    if (full == nullptr) continue;
    (full == &newest_ ? newest_ : cell(freed_)).is_full.store(false, std::memory_order_release);
  }
}

}  // namespace ringside
