// SPDX-License-Identifier: BSD-3-Clause
#include "memory/mapping.hpp"

#include "memory/arena/granule_table.hpp"
#include "memory/core.hpp"
#include "memory/far/far_file.hpp"

namespace ringside::memory {

Region region_of(const void* address) noexcept {
  return table.owns(address) ? regions.holding(table.page_of(address)) : Region{};
}

bool is_allocated(uint32_t page) noexcept {
  return state_of(table.word(page).load(std::memory_order_acquire)) != kFree;
}

void release_pages(const Region& region, uint32_t page, uint32_t pages) noexcept {
  if (!core.ready()) return;  // a forked child without an arena still has its parent's far file
  const SignalsBlocked blocked;
  for (uint32_t from = page; from < page + pages;) {
    if (!is_allocated(from)) {
      ++from;
      continue;
    }
    uint32_t to = from + 1;
    while (to < page + pages && is_allocated(to)) ++to;
    expel(from, to - from, 0, Expel::kForget);
    far.punch(static_cast<uint64_t>(from) << kPageShift, static_cast<uint64_t>(to - from) << kPageShift);
    core.far_bytes.fetch_sub(static_cast<uint64_t>(to - from) << kPageShift);
    from = to;
  }
  for (uint32_t other = region.page; other < region.page + region.pages; ++other) {
    if (is_allocated(other)) return;
  }
  regions.give(region);
}

void clear_pages(uint32_t page, uint32_t pages) noexcept {
  if (!core.ready()) return;
  const SignalsBlocked blocked;
  expel(page, pages, 0, Expel::kClear);
}

}  // namespace ringside::memory
