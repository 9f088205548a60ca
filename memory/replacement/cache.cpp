// SPDX-License-Identifier: BSD-3-Clause
#include "memory/replacement/cache.hpp"

#include <errno.h>

#include <new>

namespace ringside::memory {

constinit Caches caches;

namespace {

uint64_t ghost_bytes(uint64_t nodes) {
  return nodes * 2 * sizeof(uint64_t);
}

}  // namespace

long Caches::start(uint64_t most_bytes, uint32_t partitions) noexcept {
  partitions_ = partitions;
  most_nodes_ = (most_bytes >> kPageShift) + count() * uint64_t{kBatch};
  nodes_made_.store(0);
  caches_ = static_cast<Cache*>(map_table(sizeof(Cache) * count()));
  nodes_ = static_cast<Node*>(map_table(sizeof(Node) * most_nodes_));
  if (caches_ == nullptr || nodes_ == nullptr) return -ENOMEM;
  for (uint32_t index = 0; index < count(); ++index) {
    Cache& cache = *new (&caches_[index]) Cache;
    cache.kind = static_cast<uint8_t>(index / partitions_);
    cache.partition = static_cast<uint8_t>(index % partitions_);
    cache.ghosts = static_cast<std::atomic<uint64_t>*>(map_table(ghost_bytes(most_nodes_)));
    if (cache.ghosts == nullptr) return -ENOMEM;
  }
  dram_bytes.store(0);
  dram_peak_bytes.store(0);
  pinned_bytes.store(0);
  return 0;
}

void Caches::stop() noexcept {
  if (caches_ != nullptr) {
    for (uint32_t index = 0; index < count(); ++index) unmap_table(caches_[index].ghosts, ghost_bytes(most_nodes_));
  }
  unmap_table(caches_, sizeof(Cache) * count());
  unmap_table(nodes_, sizeof(Node) * most_nodes_);
  caches_ = nullptr;
  nodes_ = nullptr;
}

void Caches::push(Cache& cache, ListName name, uint32_t number, uint32_t stamp) const noexcept {
  List& list = cache.lists[name];
  Node& here = nodes_[number];
  here.list = name;
  here.stamp = stamp;
  here.next = kNoNode;
  here.previous = list.tail;
  (list.tail == kNoNode ? list.head : nodes_[list.tail].next) = number;
  list.tail = number;
  list.count.store(list.size() + 1, std::memory_order_relaxed);
}

void Caches::unlink(Cache& cache, uint32_t number) const noexcept {
  Node& here = nodes_[number];
  if (here.list == kNoList) return;
  List& list = cache.lists[here.list];
  (here.previous == kNoNode ? list.head : nodes_[here.previous].next) = here.next;
  (here.next == kNoNode ? list.tail : nodes_[here.next].previous) = here.previous;
  here.list = kNoList;
  list.count.store(list.size() - 1, std::memory_order_relaxed);
}

uint32_t Caches::pop(Cache& cache, ListName name) const noexcept {
  const uint32_t number = cache.lists[name].head;
  if (number != kNoNode) unlink(cache, number);
  return number;
}

uint32_t Caches::new_node(Cache& cache) noexcept {
  const uint32_t unused = pop(cache, kUnused);
  if (unused != kNoNode) return unused;
  // Other caches may have unused nodes; the table has room for a batch of unused nodes in each cache.
  const uint32_t made = nodes_made_.fetch_add(1, std::memory_order_relaxed);
  if (made < most_nodes_) {
    nodes_[made].list = kNoList;
    return made;
  }
  nodes_made_.fetch_sub(1, std::memory_order_relaxed);
  return kNoNode;
}

// The table of ghosts has at least as many places as the cache has granules. A ghost exists for as many evictions as
// there are granules: a granule that returns later would not have stayed with a larger share either. (Without this
// bound, a stream over more than the DRAM would match some ghosts by chance. Its granules would then lose the order in
// which they move together.)
std::atomic<uint64_t>& Caches::ghost_place(const Cache& cache, uint32_t granule) const noexcept {
  const uint32_t pages = cache.pages() | 15;
  const uint32_t mask = (uint32_t{2} << (31 - __builtin_clz(pages))) - 1;
  return cache.ghosts[(((granule >> cache.kind) * 0x85EBCA6Bu) >> 3) & mask];
}

bool Caches::ghost(const Cache& cache, uint32_t granule) const noexcept {
  const uint64_t place = ghost_place(cache, granule).load(std::memory_order_relaxed);
  return place >> 32 == uint64_t{granule} + 1 && cache.ghosts_made - static_cast<uint32_t>(place) <= cache.pages();
}

void Caches::remember(Cache& cache, uint32_t granule) const noexcept {
  ghost_place(cache, granule).store((uint64_t{granule} + 1) << 32 | ++cache.ghosts_made, std::memory_order_relaxed);
}

bool Caches::charge(uint64_t bytes) noexcept {
  uint64_t used = dram_bytes.load(std::memory_order_relaxed);
  do {
    if (used + bytes > limit.load(std::memory_order_relaxed)) return false;
  } while (!dram_bytes.compare_exchange_weak(used, used + bytes));
  uint64_t peak = dram_peak_bytes.load(std::memory_order_relaxed);
  while (peak < used + bytes && !dram_peak_bytes.compare_exchange_weak(peak, used + bytes)) {
  }
  return true;
}

}  // namespace ringside::memory
