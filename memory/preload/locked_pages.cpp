// SPDX-License-Identifier: BSD-3-Clause
#include "memory/preload/locked_pages.hpp"

#include "memory/preload/gate.hpp"
#include "memory/preload/page_set.hpp"
#include "memory/ringside_memory.h"

namespace ringside::memory {
namespace {

constinit Lock one_at_a_time;
constinit PageSet locked;

}  // namespace

bool lock_pages(uint32_t page, uint32_t pages) noexcept {
  const ThroughGate through;
  const Held held(one_at_a_time);
  if (!locked.is_ready()) return false;
  for (uint32_t at = page; at < page + pages; ++at) {
    if (locked.has(at)) continue;
    if (ringside_memory_pin(table.address(at), kPage, 1) == 0) {
      locked.add(at);
      continue;
    }
    // Keeps earlier locks: mlock may fail half-way, but must not unlock.
    return false;
  }
  return true;
}

void unlock_pages(uint32_t page, uint32_t pages) noexcept {
  if (locked.is_empty()) return;
  const ThroughGate through;
  const Held held(one_at_a_time);
  for (uint32_t at = page; at < page + pages; ++at) {
    if (!locked.has(at)) continue;
    locked.remove(at);
    ringside_memory_unpin(table.address(at), kPage);
  }
}

bool are_locked(uint32_t page, uint32_t pages) noexcept {
  if (locked.is_empty()) return false;
  const ThroughGate through;
  const Held held(one_at_a_time);
  for (uint32_t at = page; at < page + pages; ++at) {
    if (locked.has(at)) return true;
  }
  return false;
}

void forget_locks() noexcept {
  locked.clear();
}

}  // namespace ringside::memory
