// SPDX-License-Identifier: BSD-3-Clause
#include "memory/preload/locked_pages.hpp"

#include "memory/arena/granule_table.hpp"
#include "memory/preload/gate.hpp"
#include "memory/ringside_memory.h"
#include "memory/system/raw.hpp"

namespace ringside::memory {
namespace {

constinit Lock one_at_a_time;
constinit uint64_t* bits = nullptr;
constinit std::atomic<uint64_t> count{0};

uint64_t bitmap_bytes() {
  return ((table.bytes() >> kPageShift) + 63) / 64 * sizeof(uint64_t);
}
bool is_locked(uint32_t page) {
  return (bits[page / 64] >> (page % 64) & 1) != 0;
}
void set_locked(uint32_t page, bool on) {
  const uint64_t mask = uint64_t{1} << (page % 64);
  bits[page / 64] = on ? bits[page / 64] | mask : bits[page / 64] & ~mask;
  count.fetch_add(on ? 1 : ~uint64_t{0});
}

}  // namespace

bool lock_pages(uint32_t page, uint32_t pages) noexcept {
  const ThroughGate through;
  const Held held(one_at_a_time);
  if (bits == nullptr) bits = static_cast<uint64_t*>(map_table(bitmap_bytes()));
  if (bits == nullptr) return false;
  for (uint32_t at = page; at < page + pages; ++at) {
    if (is_locked(at)) continue;
    if (ringside_memory_pin(table.address(at), kPage, 1) == 0) {
      set_locked(at, true);
      continue;
    }
    // What was locked before stays so too: mlock may fail half-way, but must not unlock.
    return false;
  }
  return true;
}

void unlock_pages(uint32_t page, uint32_t pages) noexcept {
  if (count.load() == 0) return;
  const ThroughGate through;
  const Held held(one_at_a_time);
  for (uint32_t at = page; at < page + pages; ++at) {
    if (!is_locked(at)) continue;
    set_locked(at, false);
    ringside_memory_unpin(table.address(at), kPage);
  }
}

bool are_locked(uint32_t page, uint32_t pages) noexcept {
  if (count.load() == 0) return false;
  const ThroughGate through;
  const Held held(one_at_a_time);
  for (uint32_t at = page; at < page + pages; ++at) {
    if (is_locked(at)) return true;
  }
  return false;
}

void forget_locks() noexcept {
  unmap_table(bits, bitmap_bytes());
  bits = nullptr;
  count.store(0);
}

}  // namespace ringside::memory
