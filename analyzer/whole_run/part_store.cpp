// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/whole_run/part_store.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>

#include "common/platform/error.hpp"

namespace ringside {

PartStore::PartStore(std::size_t words)
    : cells_(std::clamp(kBytes / std::max<std::size_t>(words * sizeof(std::uint64_t), 1), kFewest, kMost)),
      stored_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!stored_event_.valid()) throw system_error("an eventfd cannot be made: {}", errno_text(errno));
  words_.resize(words * cells_.size());  // touches every page
  for (std::size_t c = 0; c < cells_.size(); ++c) cells_[c].part.words = std::span(words_).subspan(c * words, words);
}

void PartStore::begin(std::uint64_t first_step) noexcept {
  end_step_.store(first_step);
  freed_ = first_step;
}

PartStore::Part* PartStore::room() noexcept {
  Cell& next = cell(end_step_.load(std::memory_order_relaxed));
  has_room_ = !next.is_full.load(std::memory_order_acquire);
  return has_room_ ? &next.part : nullptr;
}

void PartStore::stored() noexcept {
  const std::uint64_t step = end_step_.load(std::memory_order_relaxed);
  if (has_room_) {
    cell(step).step = step;
    cell(step).is_full.store(true, std::memory_order_release);
  }
  has_room_ = false;
  end_step_.store(step + 1, std::memory_order_release);
  eventfd_write(stored_event_.get(), 1);
}

void PartStore::seen() noexcept {
  eventfd_t count = 0;
  eventfd_read(stored_event_.get(), &count);
}

const PartStore::Part* PartStore::find(std::uint64_t step) const noexcept {
  const Cell& found = cells_[step % cells_.size()];
  if (!found.is_full.load(std::memory_order_acquire) || found.step != step) return nullptr;
  return &found.part;
}

void PartStore::free_before(std::uint64_t step) noexcept {
  const std::uint64_t end = std::min(step, end_step());
  for (; freed_ < end; ++freed_) {
    if (find(freed_) != nullptr) cell(freed_).is_full.store(false, std::memory_order_release);
  }
}

}  // namespace ringside
