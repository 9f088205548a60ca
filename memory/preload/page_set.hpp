// SPDX-License-Identifier: BSD-3-Clause
// A set of pages of the arena: a bit a page, in memory that the first page allocates. Its owner provides a lock.
#pragma once

#include <stdint.h>

#include <atomic>

#include "memory/arena/granule_table.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {

class PageSet {
 public:
  /// false: no memory is left. Before add().
  bool is_ready() noexcept {
    if (bits_ == nullptr) bits_ = static_cast<uint64_t*>(map_table(bytes()));
    return bits_ != nullptr;
  }
  /// May be called without the owner's lock.
  bool is_empty() const noexcept { return count_.load() == 0; }
  bool has(uint32_t page) const noexcept { return bits_ != nullptr && (bits_[page / 64] >> (page % 64) & 1) != 0; }
  void add(uint32_t page) noexcept {
    if (has(page)) return;
    bits_[page / 64] |= uint64_t{1} << (page % 64);
    count_.fetch_add(1);
  }
  void remove(uint32_t page) noexcept {
    if (!has(page)) return;
    bits_[page / 64] &= ~(uint64_t{1} << (page % 64));
    count_.fetch_sub(1);
  }
  void clear() noexcept {
    unmap_table(bits_, bytes());
    bits_ = nullptr;
    count_.store(0);
  }

 private:
  static uint64_t bytes() noexcept { return ((table.bytes() >> kPageShift) + 63) / 64 * sizeof(uint64_t); }
  uint64_t* bits_ = nullptr;
  std::atomic<uint64_t> count_{0};
};

}  // namespace ringside::memory
