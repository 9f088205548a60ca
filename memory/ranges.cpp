// SPDX-License-Identifier: BSD-3-Clause
// Operations on every granule of a range: eviction (when it is freed, after an advice, or for another granule size) or
// a write (flush). The operations on parts of a region follow.
#include <sys/mman.h>

#include <initializer_list>

#include "memory/arena/granule_table.hpp"
#include "memory/core.hpp"
#include "memory/far/far_file.hpp"
#include "memory/in_place/in_place.hpp"
#include "memory/replacement/eviction.hpp"

namespace ringside::memory {
namespace {

void unlink(uint32_t granule, uint32_t kind, Word word) {
  Cache& cache = caches.of(granule, kind);
  const Held held(cache.lock);
  caches.unlink(cache, node_of(word));
}

State forgotten(Expel how) {
  return how == Expel::kClear ? kZero : kFree;
}

// Finishes the collected batch. Returns whether the kernel released all of its granules.
bool send_off(Batch& batch, Expel how) {
  const uint32_t collected = batch.count;
  if (collected == 0) return true;
  eviction.park(batch);
  const bool all = batch.count == collected;
  eviction.settle(batch, how == Expel::kKeep, forgotten(how));
  batch.count = 0;
  return all;
}

// Whether the granule size is still `kind`. If it has changed since the caller read it, the claimed word may belong to
// another granule.
bool still_of_kind(uint32_t granule, uint32_t kind) {
  return (table.size_of_piece(granule / kPagesPerPiece).load() & ~GranuleTable::kMoving) == kind + 1;
}

// The owner of a word may wait for a page, and this thread's batch may hold all pages. So this thread waits only with
// an empty batch.
bool is_owned_elsewhere(uint32_t granule) {
  const State state = state_of(table.word(granule).load(std::memory_order_acquire));
  return state == kLoading || state == kLeaving;
}

bool expel_once(uint32_t page, uint32_t pages, uint32_t kind, Expel how, bool* pinned) {
  Batch batch;
  batch.kind = kind;
  bool all = true;
  for (uint32_t granule = page; granule < page + pages; granule += 1u << kind) {
    if (batch.count == kBatch || is_owned_elsewhere(granule)) all = send_off(batch, how) && all;
    Word seen = kFree;
    do {
      if (batch.count > 0 && is_owned_elsewhere(granule)) all = send_off(batch, how) && all;
      seen = table.word(granule).load(std::memory_order_acquire);
      if (state_of(seen) == kFree) break;
      if (state_of(seen) == kLoading || state_of(seen) == kLeaving) {
        table.wait(granule, seen);
        continue;
      }
      if (table.claim(granule, seen, kLeaving)) break;
    } while (true);
    if (seen != kFree && !still_of_kind(granule, kind)) {
      table.close(granule, in_state(seen, state_of(seen)));
      continue;
    }
    switch (state_of(seen)) {
      case kZero:
      case kAbsent: table.close(granule, how == Expel::kKeep ? in_state(seen, state_of(seen)) : forgotten(how)); break;
      case kResident:
        if ((seen & kPins) != 0) {
          if (how == Expel::kKeep) {
            table.close(granule, in_state(seen, kResident));
            *pinned = true;
            break;
          }
          caches.pinned_bytes.fetch_sub(kPage << kind);
          seen &= ~kPins;
        }
        unlink(granule, kind, seen);
        batch.add(granule, seen, kNoSlot);
        break;
      case kProbation:
        unlink(granule, kind, seen);
        batch.add(granule, seen, caches.node(node_of(seen)).slot);
        break;
      default: break;
    }
  }
  return send_off(batch, how) && all;
}

}  // namespace

bool expel(uint32_t page, uint32_t pages, uint32_t kind, Expel how) noexcept {
  if (in_place.holds(page)) return in_place.expel(page, pages, how);
  bool pinned = false;
  while (!expel_once(page, pages, kind, how, &pinned) && how != Expel::kKeep) yield_core();
  return !pinned;
}

void write_back(uint32_t page, uint32_t pages, uint32_t kind) noexcept {
  if (in_place.holds(page)) return in_place.write_back(page, pages);
  const uint64_t size = kPage << kind;
  for (uint32_t granule = page; granule < page + pages; granule += 1u << kind) {
    const State state = state_of(table.word(granule).load(std::memory_order_acquire));
    if (state == kFree || state == kZero || state == kAbsent) continue;
    Word seen = table.claim_surely(granule, kLeaving);
    if (seen == kFree) continue;
    if (!still_of_kind(granule, kind)) {
      table.close(granule, seen);
      continue;
    }
    Victim victim{granule, node_of(seen), kNoSlot, seen};
    const char* source = table.address(granule);
    if (state_of(seen) == kProbation) {
      victim.slot = caches.node(victim.node).slot;
      source = parking.address(kind, victim.slot);
    } else if (state_of(seen) != kResident) {
      table.close(granule, seen);
      continue;
    } else if ((seen & (kProtected | kPins)) == 0) {  // a pinned granule stays writable for system calls
      core.userfault.protect(table.address(granule), size, true);
    }
    if (eviction.differs(victim, kind, source)) {
      far.write(static_cast<uint64_t>(granule) << kPageShift, source, size);
      Cache& cache = caches.of(granule, kind);
      const Held held(cache.lock);
      cache.counters.written_bytes += size;
      seen &= ~kFromZero;
    }
    // A granule that was not protected may change at any moment, so it stays unprotected and marked as changed.
    const bool open = state_of(seen) == kResident && (seen & kPins) != 0 && (seen & kProtected) == 0;
    if (open) seen |= kChanged;
    if (!open) seen &= ~kChanged;
    const bool devices_store = caches.devices_store.load() || core.userfault.kernel_faults;  // despite the protection
    if (!far.mapped() && devices_store) seen |= kChanged;
    if (!far.mapped() && !open && !devices_store) seen |= kProtected;
    if (state_of(seen) == kResident && (seen & kProtected) == 0)
      core.userfault.protect(table.address(granule), size, false);
    table.close(granule, in_state(seen, state_of(seen)));
  }
}

// --- parts of a region

Region region_of(const void* address) noexcept {
  return table.owns(address) ? regions.holding(table.page_of(address)) : Region{};
}

bool is_allocated(uint32_t page) noexcept {
  return state_of(table.word(page).load(std::memory_order_acquire)) != kFree;
}

void release_pages(const Region& region, uint32_t page, uint32_t pages) noexcept {
  if (!core.ready()) return;  // a forked child without an arena still has its parent's far file open
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

bool is_only_advice(int advice) noexcept {
  constexpr int kPopulateRead = 22, kPopulateWrite = 23, kCollapse = 25;  // Linux 5.14, 5.14, 6.1
  for (const int harmless :
       {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_COLD, MADV_PAGEOUT, kPopulateRead,
        kPopulateWrite, MADV_HUGEPAGE, MADV_NOHUGEPAGE, kCollapse, MADV_MERGEABLE, MADV_UNMERGEABLE, MADV_DONTDUMP,
        MADV_DODUMP, MADV_DONTFORK, MADV_DOFORK}) {  // whether a child has a copy does not depend on it
    if (advice == harmless) return true;
  }
  return false;
}

}  // namespace ringside::memory
