// SPDX-License-Identifier: BSD-3-Clause
#include "memory/replacement/page_supply.hpp"

#include <initializer_list>

#include "memory/arena/granule_table.hpp"
#include "memory/far/far_file.hpp"
#include "memory/replacement/eviction.hpp"

namespace ringside::memory::page_supply {

namespace {

uint32_t unused_elsewhere() {
  for (uint32_t i = 0; i < caches.count(); ++i) {
    Cache& cache = caches.at(i);
    if (cache.lists[kUnused].size() == 0) continue;
    const Held held(cache.lock);
    const uint32_t node = caches.pop(cache, kUnused);
    if (node != kNoNode) return node;
  }
  return kNoNode;
}

uint32_t take_fresh(Cache& cache, uint32_t wanted, Page* pages) noexcept {
  uint32_t charged = 0, made = 0;
  while (charged < wanted && caches.charge(bytes_of(cache.kind))) ++charged;
  if (charged == 0) return 0;
  {
    const Held held(cache.lock);
    for (; made < charged; ++made) {
      pages[made] = {caches.new_node(cache), kNoSlot};
      if (pages[made].node == kNoNode) break;
    }
  }
  for (; made < charged; ++made) {
    pages[made] = {unused_elsewhere(), kNoSlot};
    if (pages[made].node == kNoNode) break;
  }
  if (made < charged) caches.uncharge((charged - made) * bytes_of(cache.kind));
  return made;
}

uint32_t take_vacant(Cache& cache, uint32_t wanted, Page* pages) noexcept {
  uint32_t got = 0;
  for (uint32_t offset = 0; offset < caches.partitions() && got < wanted; ++offset) {  // its own partition first
    const uint32_t partition = (cache.partition + offset) & (caches.partitions() - 1);
    Cache& from = caches.at(cache.kind * caches.partitions() + partition);
    if (from.lists[kVacant].size() == 0) continue;
    const Held held(from.lock);
    while (got < wanted) {
      const uint32_t node = caches.pop(from, kVacant);
      if (node == kNoNode) break;
      pages[got++] = {node, caches.node(node).slot};
    }
  }
  return got;
}

bool release_vacant(Cache& cache) noexcept {
  bool any = false;
  while (cache.lists[kVacant].size() > 0) {
    uint32_t nodes[kBatch];
    uint32_t count = 0;
    {
      const Held held(cache.lock);
      while (count < kBatch && (nodes[count] = caches.pop(cache, kVacant)) != kNoNode) ++count;
    }
    for (uint32_t i = 0; i < count;) {
      const uint32_t first = caches.node(nodes[i]).slot;
      uint32_t run = 1;
      while (i + run < count && caches.node(nodes[i + run]).slot == first + run) ++run;
      parking.drop_pages(cache.kind, first, run);
      for (uint32_t j = 0; j < run; ++j) parking.give(cache.kind, first + j);
      i += run;
    }
    {
      const Held held(cache.lock);
      for (uint32_t i = 0; i < count; ++i) {
        caches.node(nodes[i]).slot = kNoSlot;
        caches.push(cache, kUnused, nodes[i], 0);
      }
    }
    caches.uncharge(count * bytes_of(cache.kind));
    any = any || count > 0;
  }
  return any;
}

void make_room(Cache& own, uint32_t wanted) noexcept {
  const auto start = static_cast<uint32_t>((now_ns() * 0x9E3779B97F4A7C15u) >> 40);
  Cache* other = nullptr;
  for (uint32_t offset = 0; offset < caches.count(); ++offset) {
    Cache& candidate = caches.at((start + offset) % caches.count());
    if (candidate.kind != own.kind && release_vacant(candidate)) return;  // the candidate's memory can be charged again
    if (other == nullptr && &candidate != &own && candidate.evictable() > 0) other = &candidate;
    if (other != nullptr && offset >= 2 * caches.partitions()) break;
  }
  // Of two caches, the one with the older head is chosen, so that an idle cache gives memory to a busy one.
  Cache* from = &own;
  const auto age = [](Cache& cache) {
    const Held held(cache.lock);
    uint32_t oldest = 0;
    const uint32_t now = stamp_now();
    for (const ListName name : {kSmall, kMain}) {
      if (cache.lists[name].head == kNoNode) continue;
      const uint32_t here = now - caches.node(cache.lists[name].head).stamp;
      if (here > oldest) oldest = here;
    }
    return oldest;
  };
  if (other != nullptr && (own.evictable() < 2 || age(*other) > age(own) + 2)) from = other;
  const uint32_t pages = from->evictable();
  if (pages == 0) {
    // All unused nodes may be in other caches; or every page may be coming in, or be pinned for a moment.
    yield_core();
    return;
  }
  uint32_t batch = pages / 8;
  if (batch < wanted) batch = wanted;
  const auto most = static_cast<uint32_t>(kPiece >> (kPageShift + from->kind));
  if (batch > most) batch = most;
  if (batch > kBatch) batch = kBatch;
  if (batch > pages) batch = pages;
  // A share of the pages is kept for probation: unmapped granules wait there for a touch before their memory is reused.
  // On a disk, a touch in probation saves a read; where far memory is mapped, a read costs no more than such a touch.
  const uint32_t kept = eviction.moves() && !far.mapped() ? pages / 8 : 0;
  const uint32_t probating = from->lists[kProbating].size();
  // Takes whole batches, so that granules that came in as one run also leave as one run.
  const uint32_t dropped = probating < kept + batch ? eviction.unmap_batch(*from, batch) : 0;
  if (!eviction.moves()) return;
  // A few granules are always cleaned, so that granules that are in probation since earlier MOVEs do not stay there.
  const uint32_t cleaned = dropped < batch ? batch - dropped : 4;
  const uint32_t waiting = from->lists[kProbating].size();
  if (waiting < kept + cleaned && waiting > probating) return;  // the caller tries again
  eviction.clean_batch(*from, cleaned);
}

void shrink_cache(Cache& cache) noexcept {
  if (cache.pages() == 0 || release_vacant(cache)) return;
  if (cache.lists[kProbating].size() < kBatch / 2) eviction.unmap_batch(cache, kBatch / 2);
  eviction.clean_batch(cache, kBatch / 2);
  release_vacant(cache);
}

}  // namespace

uint32_t acquire(Cache& cache, uint32_t wanted, Page* pages) noexcept {
  constexpr int kTries = 4;  // tries to get all pages that a stream wants; after them, one page is enough
  uint32_t got = 0;
  for (int tries = 1;; ++tries) {
    if (wanted == 1) got = take_fresh(cache, 1, pages);
    got += take_vacant(cache, wanted - got, pages + got);
    got += take_fresh(cache, wanted - got, pages + got);
    if (got == wanted || (got > 0 && tries >= kTries)) return got;
    make_room(cache, wanted - got);
  }
}

void release(uint64_t bytes) noexcept {
  const uint64_t before = caches.dram_bytes.load();
  for (uint32_t i = 0; i < caches.count() && caches.dram_bytes.load() + bytes > before; ++i) shrink_cache(caches.at(i));
}

bool shrink() noexcept {
  // Faults of other threads may take each page that becomes free, but only pins can make this wait long.
  constexpr uint64_t kPatienceNs = 10'000'000'000;
  uint64_t progress_ns = now_ns();
  while (caches.dram_bytes.load() > caches.limit.load()) {
    const uint64_t before = caches.dram_bytes.load();
    for (uint32_t i = 0; i < caches.count() && caches.dram_bytes.load() > caches.limit.load(); ++i) {
      shrink_cache(caches.at(i));
    }
    if (caches.dram_bytes.load() < before) {
      progress_ns = now_ns();
    } else {
      if (now_ns() - progress_ns > kPatienceNs) return false;
      yield_core();
    }
  }
  return true;
}

}  // namespace ringside::memory::page_supply
