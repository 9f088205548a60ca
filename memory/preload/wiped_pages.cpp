// SPDX-License-Identifier: BSD-3-Clause
#include "memory/preload/wiped_pages.hpp"

#include "memory/mapping.hpp"
#include "memory/preload/gate.hpp"
#include "memory/preload/page_set.hpp"

namespace ringside::memory {
namespace {

constinit Lock one_at_a_time;
constinit PageSet wiped;

}  // namespace

bool wipe_on_fork(uint32_t page, uint32_t pages) noexcept {
  const ThroughGate through;
  const Held held(one_at_a_time);
  if (!wiped.is_ready()) return false;
  for (uint32_t at = page; at < page + pages; ++at) wiped.add(at);
  return true;
}

void keep_on_fork(uint32_t page, uint32_t pages) noexcept {
  if (wiped.is_empty()) return;
  const ThroughGate through;
  const Held held(one_at_a_time);
  for (uint32_t at = page; at < page + pages; ++at) wiped.remove(at);
}

// The mark remains, as with the kernel's.
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
