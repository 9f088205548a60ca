// SPDX-License-Identifier: BSD-3-Clause
#include "memory/preload/marked_pages.hpp"

#include <atomic>

#include "memory/arena/granule_table.hpp"
#include "memory/core.hpp"
#include "memory/preload/gate.hpp"
#include "memory/ringside_memory.h"

namespace ringside::memory {
namespace {

/// One bit for each page, in memory that is_ready allocates. The caller must be inside the gate and hold the lock. This
/// is not necessary for is_empty and clear, and in a forked child, which has only one thread.
class PageSet {
 public:
  /// Allocates the memory. Returns false if no memory is left. Call it before add().
  bool is_ready() noexcept {
    if (bits_ == nullptr) bits_ = static_cast<uint64_t*>(map_table(bytes()));
    return bits_ != nullptr;
  }
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
  Lock lock;

 private:
  static uint64_t bytes() noexcept { return ((table.bytes() >> kPageShift) + 63) / 64 * sizeof(uint64_t); }
  uint64_t* bits_ = nullptr;
  std::atomic<uint64_t> count_{0};
};

constinit PageSet locked, wiped;

}  // namespace

bool lock_pages(uint32_t page, uint32_t pages) noexcept {
  const ThroughGate through;
  const Held held(locked.lock);
  if (!locked.is_ready()) return false;
  for (uint32_t at = page; at < page + pages; ++at) {
    if (locked.has(at)) continue;
    // Earlier locks are kept: mlock may fail half-way, but must not unlock pages.
    if (ringside_memory_pin(table.address(at), kPage, 1) != 0) return false;
    locked.add(at);
  }
  return true;
}

void unlock_pages(uint32_t page, uint32_t pages) noexcept {
  if (locked.is_empty()) return;
  const ThroughGate through;
  const Held held(locked.lock);
  for (uint32_t at = page; at < page + pages; ++at) {
    if (!locked.has(at)) continue;
    locked.remove(at);
    ringside_memory_unpin(table.address(at), kPage);
  }
}

bool are_locked(uint32_t page, uint32_t pages) noexcept {
  if (locked.is_empty()) return false;
  const ThroughGate through;
  const Held held(locked.lock);
  for (uint32_t at = page; at < page + pages; ++at) {
    if (locked.has(at)) return true;
  }
  return false;
}

void forget_locks() noexcept {
  locked.clear();
}

bool wipe_on_fork(uint32_t page, uint32_t pages) noexcept {
  const ThroughGate through;
  const Held held(wiped.lock);
  if (!wiped.is_ready()) return false;
  for (uint32_t at = page; at < page + pages; ++at) wiped.add(at);
  return true;
}

void keep_on_fork(uint32_t page, uint32_t pages) noexcept {
  if (wiped.is_empty()) return;
  const ThroughGate through;
  const Held held(wiped.lock);
  for (uint32_t at = page; at < page + pages; ++at) wiped.remove(at);
}

// The pages stay marked, as they do in the kernel.
void wipe_in_child() noexcept {
  if (wiped.is_empty()) return;
  const auto end = static_cast<uint32_t>(table.bytes() >> kPageShift);
  for (uint32_t at = 0; at < end;) {
    uint32_t to = at;
    while (to < end && wiped.has(to)) ++to;
    if (to > at) clear_pages(at, to - at);
    at = to + 1;
  }
}

}  // namespace ringside::memory
