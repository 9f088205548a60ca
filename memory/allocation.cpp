// SPDX-License-Identifier: BSD-3-Clause
// The functions of the interface that concern a program's memory: allocation, advice and pins.
#include <errno.h>
#include <string.h>

#include "memory/arena/granule_table.hpp"
#include "memory/core.hpp"
#include "memory/far/far_file.hpp"
#include "memory/faults/resolve.hpp"
#include "memory/in_place/in_place.hpp"
#include "memory/ringside_memory.h"
#include "memory/system/line.hpp"

using namespace ringside::memory;

namespace {

// Small regions share pieces; the granules of these pieces are pages.
uint32_t kind_of(const Region& region) {
  return region.whole_pieces ? table.size_of_piece(region.page / kPagesPerPiece).load() - 1u : 0;
}

uint32_t last_piece(const Region& region) {
  return (region.page + region.pages - 1) / kPagesPerPiece;
}

void set_sizes(uint32_t page, uint32_t pages, uint32_t size) {
  for (uint32_t piece = page / kPagesPerPiece; piece <= (page + pages - 1) / kPagesPerPiece; ++piece)
    table.size_of_piece(piece).store(static_cast<uint8_t>(size));
}

void give_back_far(uint64_t page, uint64_t pages) {
  far.punch(page << kPageShift, pages << kPageShift);
  core.far_bytes.fetch_sub(pages << kPageShift);
}

uint64_t whole_granules(uint64_t pages, uint32_t kind) {
  const uint64_t span = uint64_t{1} << kind;
  return (pages + span - 1) / span * span;
}

// Reserves far memory for pages [from, to) of a region, and sets their words. Returns false if far memory is full.
bool make_usable(uint32_t first, uint64_t from, uint64_t to, uint32_t kind, bool direct = false) {
  const uint64_t bytes = (to - from) << kPageShift;
  uint64_t used = core.far_bytes.load();
  do {
    if (used + bytes > core.far_limit) return false;
  } while (!core.far_bytes.compare_exchange_weak(used, used + bytes));
  if (far.reserve((first + from) << kPageShift, bytes) < 0) {
    give_back_far(first + from, to - from);
    return false;
  }
  uint64_t peak = core.far_peak_bytes.load();
  while (peak < used + bytes && !core.far_peak_bytes.compare_exchange_weak(peak, used + bytes)) {
  }
  const auto begin = static_cast<uint32_t>(first + from), end = static_cast<uint32_t>(first + to);
  table.open_walls(begin, end - begin);
  const bool mapped = direct && in_place.map(begin, end - begin) == 0;
  if (direct && !mapped && from > 0) {  // the added part must be in place, too, but a new region would be cached
    give_back_far(first + from, to - from);
    return false;
  }
  for (uint32_t page = begin; page < end && !mapped; page += 1u << kind)
    table.word(page).store(kZero, std::memory_order_relaxed);
  set_sizes(begin, end - begin, kind + 1);
  return true;
}

void make_unusable(uint32_t first, uint64_t from, uint64_t to, uint32_t kind) {
  if (from >= to) return;
  expel(static_cast<uint32_t>(first + from), static_cast<uint32_t>(to - from), kind, Expel::kForget);
  give_back_far(first + from, to - from);
}

void* full(const char* function, uint64_t bytes) {
  fail(ENOMEM, function, ": far memory is full: ", bytes, " bytes requested, ", core.far_bytes.load(), " of ",
       core.far_limit, " in use");
  return nullptr;
}

void* allocate(const char* function, uint64_t bytes, uint64_t alignment) {
  if (need_start(function) != 0) return nullptr;
  const SignalsBlocked blocked;
  const Region region = regions.take(bytes, alignment);
  if (!region) return full(function, bytes);
  const bool direct = region.whole_pieces && in_place.wanted(bytes);
  const uint32_t kind = region.whole_pieces && !direct ? core.granule_kind : 0;
  if (region.whole_pieces) {
    for (uint32_t piece = region.page / kPagesPerPiece; piece <= last_piece(region); ++piece) {
      table.advice_of_piece(piece).store(kAdviceNormal, std::memory_order_relaxed);
      table.protection_of_piece(piece).store(0, std::memory_order_relaxed);
      table.neighbours_of_piece(piece).store(0, std::memory_order_relaxed);
    }
  }
  if (!make_usable(region.page, 0, whole_granules(region.pages, kind), kind, direct)) {
    regions.give(region);
    return full(function, bytes);
  }
  return table.address(region.page);
}

// Returns the region that starts at an address. If there is none, records the failure and returns an empty region.
Region known(const char* function, const void* memory) {
  if (need_start(function) != 0) return {};
  Region region;
  if (table.owns(memory) && (reinterpret_cast<uintptr_t>(memory) & (kPage - 1)) == 0) {
    const SignalsBlocked blocked;
    region = regions.starting_at(table.page_of(memory));
  }
  if (!region) fail(EINVAL, function, ": the pointer is not the start of an allocation of ringside_memory");
  return region;
}

// Returns the region that holds a whole range. If there is none, does the same as `known`.
Region holding(const char* function, const void* memory, size_t bytes) {
  if (need_start(function) != 0) return {};
  Region region;
  if (table.owns(memory)) {
    const SignalsBlocked blocked;
    region = regions.holding(table.page_of(memory));
  }
  const auto offset = region ? static_cast<uint64_t>(static_cast<const char*>(memory) - table.address(region.page)) : 0;
  if (region && offset + bytes <= static_cast<uint64_t>(region.pages) << kPageShift && offset + bytes >= offset)
    return region;
  fail(EINVAL, function, ": the range is not within one allocation of ringside_memory");
  return {};
}

// Evicts the whole region, makes every fault in it wait, and then maps the far file at the region's addresses.
int put_in_place(const Region& region, uint32_t kind) {
  if (!in_place.possible()) {
    return fail(ENOTSUP, "ringside_memory_advise: far memory is not used in place: ", reason(in_place.placement()));
  }
  if (in_place.holds(region.page)) return 0;
  if (kind != 0 || !region.whole_pieces) {
    return fail(
        EINVAL,
        "ringside_memory_advise: RINGSIDE_MEMORY_IN_PLACE needs an allocation of 256 KiB or more with granules of "
        "4096 bytes");
  }
  static constinit Lock one_at_a_time;
  const Held held(one_at_a_time);
  const uint32_t first = region.page, end = region.page + region.pages;
  set_sizes(first, region.pages, GranuleTable::kMoving | 1);
  bool done = expel(first, region.pages, 0, Expel::kKeep);
  if (done) {
    for (uint32_t page = first; page < end; ++page) table.claim_surely(page, kLeaving);
    done = in_place.map(first, region.pages) == 0;
    for (uint32_t page = first; page < end && !done; ++page) table.close(page, kAbsent);
  }
  set_sizes(first, region.pages, 1);
  if (done) return 0;
  return fail(EBUSY,
              "ringside_memory_advise: parts of the allocation are pinned, or the kernel permits no more mappings");
}

uint32_t last_page(const void* memory, size_t bytes) {
  return table.page_of(static_cast<const char*>(memory) + (bytes == 0 ? 0 : bytes - 1));
}

}  // namespace

namespace ringside::memory {

bool resize_in_place(Region region, uint64_t bytes, bool* full_there) noexcept {
  const SignalsBlocked blocked;
  *full_there = false;
  const uint64_t before = region.bytes;
  const uint32_t kind = kind_of(region), first = region.page;
  const uint64_t had = whole_granules(region.pages, kind);
  const uint64_t wants = whole_granules((bytes + kPage - 1) >> kPageShift, kind);
  if (wants <= had) {  // first frees the memory at the region's end, then the addresses
    const uint64_t left = wants == 0 ? uint64_t{1} << kind : wants;
    make_unusable(first, left, had, kind);
    regions.resize(region, bytes);
    return true;
  }
  if (!region.whole_pieces || !regions.resize(region, bytes)) return false;
  if (make_usable(first, had, wants, kind, in_place.holds(first))) return true;
  regions.resize(region, before);
  *full_there = true;
  return false;
}

}  // namespace ringside::memory

extern "C" {

void* ringside_memory_alloc(size_t bytes) {
  return allocate("ringside_memory_alloc", bytes, 1);
}

void* ringside_memory_calloc(size_t count, size_t bytes) {
  size_t product = 0;
  if (__builtin_mul_overflow(count, bytes, &product)) return full("ringside_memory_calloc", UINT64_MAX);
  return allocate("ringside_memory_calloc", product, 1);
}

void* ringside_memory_aligned(size_t alignment, size_t bytes) {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > kMostAlignment) {
    fail(EINVAL, "ringside_memory_aligned: alignment is ", uint64_t{alignment}, ", expected a power of two up to ",
         kMostAlignment);
    return nullptr;
  }
  return allocate("ringside_memory_aligned", bytes, alignment);
}

void ringside_memory_free(void* memory) {
  if (memory == nullptr) return;
  const Region region = known("ringside_memory_free", memory);
  if (!region) return;
  const SignalsBlocked blocked;
  const uint32_t kind = kind_of(region);
  make_unusable(region.page, 0, whole_granules(region.pages, kind), kind);
  regions.give(region);
}

void* ringside_memory_realloc(void* memory, size_t bytes) {
  if (memory == nullptr) return allocate("ringside_memory_realloc", bytes, 1);
  Region region = known("ringside_memory_realloc", memory);
  if (!region) return nullptr;
  const uint64_t before = region.bytes;
  bool full_there = false;
  if (resize_in_place(region, bytes, &full_there)) return memory;
  if (full_there) return full("ringside_memory_realloc", bytes);
  void* const moved = allocate("ringside_memory_realloc", bytes, 1);
  if (moved == nullptr) return nullptr;
  memcpy(moved, memory, before < bytes ? before : bytes);
  ringside_memory_free(memory);
  return moved;
}

size_t ringside_memory_usable(const void* memory) {
  if (!core.ready() || !table.owns(memory) || (reinterpret_cast<uintptr_t>(memory) & (kPage - 1)) != 0) return 0;
  const SignalsBlocked blocked;
  return static_cast<size_t>(regions.starting_at(table.page_of(memory)).pages) << kPageShift;
}

int ringside_memory_advise(void* memory, size_t bytes, int advice) {
  const Region region = holding("ringside_memory_advise", memory, bytes);
  if (!region) return -1;
  const SignalsBlocked blocked;
  const uint32_t kind = kind_of(region), span = 1u << kind;
  const uint32_t first = table.page_of(memory) & ~(span - 1), last = last_page(memory, bytes);
  switch (advice) {
    case RINGSIDE_MEMORY_NORMAL:
    case RINGSIDE_MEMORY_RANDOM:
    case RINGSIDE_MEMORY_SEQUENTIAL:
      for (uint32_t piece = region.page / kPagesPerPiece; piece <= last_piece(region); ++piece) {
        table.advice_of_piece(piece).store(static_cast<uint8_t>(advice - RINGSIDE_MEMORY_NORMAL),
                                           std::memory_order_relaxed);
      }
      return 0;
    case RINGSIDE_MEMORY_WILL_NEED: {
      uint64_t left = caches.limit.load() / 2;  // the other half stays for the pages in use now
      for (uint32_t page = first; page <= last && left >= uint64_t{span} << kPageShift; page += span) {
        resolve.page(page, false);
        left -= uint64_t{span} << kPageShift;
      }
      return 0;
    }
    case RINGSIDE_MEMORY_IN_PLACE: return put_in_place(region, kind);
    case RINGSIDE_MEMORY_CACHED:
      if (!in_place.holds(region.page) || in_place.cache(region.page, region.pages)) return 0;
      return fail(EBUSY, "ringside_memory_advise: parts of the allocation are pinned");
    case RINGSIDE_MEMORY_DONT_NEED: expel(first, last + 1 - first, kind, Expel::kKeep); return 0;
    default:
      return fail(EINVAL, "ringside_memory_advise: advice is ", long{advice},
                  ", expected 1 to 7 (enum ringside_memory_advice)");
  }
}

int ringside_memory_granule(void* memory, size_t granule_bytes) {
  const Region region = known("ringside_memory_granule", memory);
  if (!region) return -1;
  if (granule_bytes < kPage || granule_bytes > kPiece || (granule_bytes & (granule_bytes - 1)) != 0) {
    return fail(EINVAL, "ringside_memory_granule: granule_bytes is ", uint64_t{granule_bytes},
                ", expected a power of two from 4096 to 1048576");
  }
  const auto kind = static_cast<uint32_t>(__builtin_ctzll(granule_bytes)) - kPageShift;
  if (!region.whole_pieces) {
    if (kind == 0) return 0;
    return fail(EINVAL, "ringside_memory_granule: allocations below 256 KiB have granules of 4096 bytes");
  }
  if (granule_bytes > caches.limit.load() / 16) {
    return fail(EINVAL, "ringside_memory_granule: granule_bytes is ", uint64_t{granule_bytes},
                ", expected at most a sixteenth of the limit of ", caches.limit.load(), " bytes");
  }
  const SignalsBlocked blocked;
  static constinit Lock one_at_a_time;
  const Held held(one_at_a_time);
  const uint32_t before = kind_of(region), first = region.page;
  if (before == kind || in_place.holds(first)) return 0;  // a region in place is not divided into granules
  const uint64_t had = whole_granules(region.pages, before), wants = whole_granules(region.pages, kind);
  // If the last granule becomes longer, the additional far memory is reserved first, while the old size still applies.
  if (wants > had && !make_usable(first, had, wants, before)) {
    full("ringside_memory_granule", (wants - had) << kPageShift);
    return -1;
  }
  set_sizes(first, region.pages, GranuleTable::kMoving | (before + 1));
  const uint64_t all = wants > had ? wants : had;
  if (!expel(first, static_cast<uint32_t>(all), before, Expel::kKeep)) {
    set_sizes(first, region.pages, before + 1);
    make_unusable(first, had, wants, before);
    return fail(EBUSY, "ringside_memory_granule: parts of the allocation are pinned");
  }
  // No granule of the region is in DRAM, and every fault waits. But a fault that read the old size may still own a word
  // for a short time.
  const uint32_t old_span = 1u << before, new_span = 1u << kind;
  const uint32_t step = old_span > new_span ? old_span : new_span;
  for (uint32_t page = first; page < first + all; page += step) {
    bool written = false;
    for (uint32_t old = page; old < page + step && old < first + all; old += old_span) {
      written = state_of(table.claim_surely(old, kLeaving)) == kAbsent || written;
    }
    for (uint32_t old = page; old < page + step && old < first + all; old += old_span) {
      if (old % new_span != 0) table.close(old, kFree);
    }
    for (uint32_t now = page; now < page + step && now < first + wants; now += new_span)
      table.close(now, written ? kAbsent : kZero);
  }
  set_sizes(first, region.pages, kind + 1);
  if (wants < had) give_back_far(first + wants, had - wants);
  return 0;
}

int ringside_memory_pin(const void* memory, size_t bytes, int for_write) {
  if (need_start("ringside_memory_pin") != 0) return -1;
  if (bytes == 0) return 0;
  long result = table.owns(memory) && table.owns(static_cast<const char*>(memory) + bytes - 1) ? 0 : -EFAULT;
  const SignalsBlocked blocked;
  const uint32_t first = result == 0 ? table.page_of(memory) : 0, last = result == 0 ? last_page(memory, bytes) : 0;
  uint32_t page = first;
  if (result == 0) result = resolve.pin_range(&page, last, for_write != 0);
  if (result == 0) return 0;
  if (page > first) {
    const size_t pinned = static_cast<size_t>(table.address(page) - static_cast<const char*>(memory));
    ringside_memory_unpin(memory, pinned);
  }
  if (result == -EFAULT) return fail(EFAULT, "ringside_memory_pin: the range is not allocated");
  if (result == -EAGAIN) return fail(EAGAIN, "ringside_memory_pin: a granule has 65535 pins already");
  return fail(static_cast<int>(-result), "ringside_memory_pin: ", uint64_t{bytes}, " bytes requested, ",
              caches.pinned_bytes.load(), " are pinned and the limit is ", caches.limit.load(),
              ": an eighth of the limit stays free");
}

int ringside_memory_unpin(const void* memory, size_t bytes) {
  if (need_start("ringside_memory_unpin") != 0) return -1;
  if (bytes == 0) return 0;
  if (!table.owns(memory) || !table.owns(static_cast<const char*>(memory) + bytes - 1))
    return fail(EINVAL, "ringside_memory_unpin: the range is not in the arena");
  const SignalsBlocked blocked;
  resolve.unpin_range(table.page_of(memory), last_page(memory, bytes));
  return 0;
}

}  // extern "C"
