// SPDX-License-Identifier: BSD-3-Clause
#include "memory/replacement/eviction.hpp"

#include <string.h>

#include "memory/arena/granule_table.hpp"
#include "memory/far/far_file.hpp"
#include "memory/replacement/neighbourhood.hpp"
#include "memory/replacement/protection.hpp"

namespace ringside::memory {

constinit Eviction eviction;

namespace {

bool all_zero(const char* at, uint64_t bytes) {
  uint64_t first = 0;
  memcpy(&first, at, sizeof first);
  return first == 0 && memcmp(at, at + sizeof first, bytes - sizeof first) == 0;
}

const char* source_of(const Victim& victim, uint32_t kind) {
  return victim.slot == kNoSlot ? table.address(victim.granule) : parking.address(kind, victim.slot);
}

// Neighbours that came in together also leave together. Call it with the cache's lock held.
void add_neighbours(Cache& cache, uint32_t granule, Batch& batch) {
  const uint32_t first = neighbourhood::first(granule);
  for (uint32_t at = first; at < first + neighbourhood::kPages && batch.count < kBatch; at += 1u << batch.kind) {
    const Word word = table.word(at).load(std::memory_order_acquire);
    if (state_of(word) != kResident || (word & kPins) != 0 || !table.claim(at, word, kLeaving)) continue;
    Node& node = caches.node(node_of(word));
    node.was_main = node.list == kMain;
    caches.unlink(cache, node_of(word));
    batch.add(at, word, kNoSlot);
  }
}

}  // namespace

void sort_by_granule(Batch& batch) noexcept {
  for (uint32_t i = 1; i < batch.count; ++i) {  // a stream's batch is sorted already
    const Victim moving = batch.victims[i];
    uint32_t j = i;
    for (; j > 0 && batch.victims[j - 1].granule > moving.granule; --j) batch.victims[j] = batch.victims[j - 1];
    batch.victims[j] = moving;
  }
}

// --- out of the arena

uint32_t Eviction::unmap_batch(Cache& cache, uint32_t wanted) const noexcept {
  Batch batch;
  batch.kind = cache.kind;
  if (wanted > kBatch) wanted = kBatch;
  {
    const Held held(cache.lock);
    // If this many granules of a queue cannot leave, all granules of the queue may be pinned, so the other queue is
    // used.
    constexpr uint32_t kRefusals = 32;
    uint32_t refused[2] = {0, 0};  // granules of kSmall and of kMain
    for (uint32_t tries = wanted + 2 * kRefusals; tries > 0 && batch.count < wanted; --tries) {
      const uint32_t small = cache.lists[kSmall].size(), main = cache.lists[kMain].size();
      ListName from = main == 0 || small * 10 > small + main ? kSmall : kMain;
      if (refused[from] >= kRefusals) from = from == kSmall ? kMain : kSmall;
      const uint32_t number = caches.pop(cache, from);
      if (number == kNoNode) break;
      Node& node = caches.node(number);
      const Word word = table.word(node.granule).load(std::memory_order_acquire);
      if (state_of(word) == kResident && (word & kPins) == 0 && table.claim(node.granule, word, kLeaving)) {
        node.was_main = from == kMain;
        batch.add(node.granule, word, kNoSlot);
        if (neighbourhood::wanted(node.granule)) add_neighbours(cache, node.granule, batch);
      } else {
        caches.push(cache, from, number, stamp_now());
        ++refused[from];
      }
    }
  }
  if (batch.count == 0) {
    yield_core();  // all granules are pinned, or owned by other threads
    return 0;
  }
  // Granules without neighbours are dropped, unless a touch in probation would save a read from a disk.
  const bool drops = !userfault_->moves || far.mapped();
  // If the library serves the kernel's faults, system calls take no pins. Then any granule may be the target of an
  // O_DIRECT read.
  const bool cleans = userfault_->moves && !userfault_->kernel_faults && !caches.devices_store.load() &&
                      cache.cleaning.wanted();
  const uint32_t dropped = drops ? drop_scattered(*userfault_, cache, batch, cleans) : 0;
  if (batch.count == 0) return dropped;
  park(batch);
  if (!userfault_->moves) {
    settle(batch, true);
    return dropped;
  }
  {
    const Held held(cache.lock);
    for (uint32_t i = 0; i < batch.count; ++i) {
      caches.node(batch.victims[i].node).slot = batch.victims[i].slot;
      caches.push(cache, kProbating, batch.victims[i].node, 0);
    }
  }
  for (uint32_t i = 0; i < batch.count; ++i)
    table.close(batch.victims[i].granule, in_state(batch.victims[i].word, kProbation));
  return dropped;
}

void Eviction::park(Batch& batch) const noexcept {
  sort_by_granule(batch);
  const uint32_t span = 1u << batch.kind;
  uint32_t left = 0;
  uint32_t slot = 0, slots = 0;
  for (uint32_t i = 0; i < batch.count;) {
    uint32_t run = 1;
    if (batch.victims[i].slot != kNoSlot) {
      batch.victims[left++] = batch.victims[i++];
      continue;
    }
    while (i + run < batch.count && batch.victims[i + run].slot == kNoSlot &&
           batch.victims[i + run].granule == batch.victims[i].granule + run * span) {
      ++run;
    }
    char* const from = table.address(batch.victims[i].granule);
    if (!userfault_->moves) {
      userfault_->protect(from, run * bytes_of(batch.kind), true);
      for (uint32_t j = 0; j < run; ++j) batch.victims[left++] = batch.victims[i + j];
      i += run;
      continue;
    }
    if (slots == 0) {
      const uint32_t partition = caches.of(batch.victims[i].granule, batch.kind).partition;
      slot = parking.take(batch.kind, partition, batch.count - i, &slots);
    }
    if (run > slots) run = slots;
    char* const to = parking.address(batch.kind, slot);
    const size_t moved = userfault_->move(to, from, run * bytes_of(batch.kind));
    const auto whole = static_cast<uint32_t>(moved / bytes_of(batch.kind));
    for (uint32_t j = 0; j < whole; ++j) {
      Victim& victim = batch.victims[left++] = batch.victims[i + j];
      victim.slot = slot + j;
    }
    slot += whole;
    slots -= whole;
    i += whole;
    if (whole == run) continue;
    // The kernel holds a page of the next granule. So the granule's other pages are moved back, and the granule stays
    // in DRAM.
    const size_t begun = whole * bytes_of(batch.kind);
    userfault_->move_all(from + begun, to + begun, moved - begun);
    Word word = batch.victims[i].word;
    if (moved > begun && (word & kProtected) != 0) {
      userfault_->protect(from + begun, bytes_of(batch.kind), false);  // a MOVE removed some protection
      word = (word & ~(kProtected | kCleaned)) | kChanged;
    }
    Cache& cache = caches.of(batch.victims[i].granule, batch.kind);
    {
      const Held held(cache.lock);
      ++cache.counters.busy;
      caches.push(cache, kMain, batch.victims[i].node, stamp_now());
    }
    table.close(batch.victims[i].granule, in_state(word, kResident));
    ++i;
  }
  for (uint32_t j = 0; j < slots; ++j) parking.give(batch.kind, slot + j);
  batch.count = left;
}

// --- into far memory

bool Eviction::differs(const Victim& victim, uint32_t kind, const char* source) const noexcept {
  if ((victim.word & kChanged) != 0) return true;
  if ((victim.word & kProtected) != 0) return false;
  if ((victim.word & kFromZero) != 0) return !all_zero(source, bytes_of(kind));
  if (!far.mapped()) return true;
  const uint64_t begin = far.begin_ns();
  const char* const there = far.map() + (static_cast<uint64_t>(victim.granule) << kPageShift);
  const bool found = memcmp(there, source, bytes_of(kind)) != 0;
  far.pace(FarFile::kRead, begin, bytes_of(kind));
  return found;
}

void Eviction::settle(Batch& batch, bool keep, State forgotten) const noexcept {
  const uint32_t span = 1u << batch.kind;
  const uint64_t size = bytes_of(batch.kind);
  bool written[kBatch] = {};
  if (keep) {
    for (uint32_t i = 0; i < batch.count; ++i)
      written[i] = differs(batch.victims[i], batch.kind, source_of(batch.victims[i], batch.kind));
    FarFile::Writes writes;
    for (uint32_t i = 0; i < batch.count;) {  // one write for neighbours
      if (!written[i]) {
        ++i;
        continue;
      }
      const char* const from = source_of(batch.victims[i], batch.kind);
      uint32_t run = 1;
      while (i + run < batch.count && written[i + run] &&
             batch.victims[i + run].granule == batch.victims[i].granule + run * span &&
             source_of(batch.victims[i + run], batch.kind) == from + run * size) {
        ++run;
      }
      far.write(static_cast<uint64_t>(batch.victims[i].granule) << kPageShift, from, run * size, writes);
      i += run;
    }
    far.submit(writes);
  }
  if (!userfault_->moves) {
    for (uint32_t i = 0; i < batch.count;) {
      uint32_t run = 1;
      while (i + run < batch.count && batch.victims[i + run].granule == batch.victims[i].granule + run * span) ++run;
      drop_range(table.address(batch.victims[i].granule), run * size);
      i += run;
    }
    caches.uncharge(batch.count * size);
  }
  for (uint32_t i = 0; i < batch.count; ++i) {
    const Victim& victim = batch.victims[i];
    const bool zero = !written[i] && (victim.word & kFromZero) != 0;
    table.close(victim.granule, !keep ? forgotten : zero ? kZero : kAbsent);
  }
  for (uint32_t i = 0; i < batch.count;) {  // neighbours are in one cache
    Cache& cache = caches.of(batch.victims[i].granule, batch.kind);
    const Held held(cache.lock);
    for (; i < batch.count && &caches.of(batch.victims[i].granule, batch.kind) == &cache; ++i) {
      const Victim& victim = batch.victims[i];
      Node& node = caches.node(victim.node);
      if (keep) {
        caches.remember(cache, victim.granule);
        if (!written[i] && (victim.word & kProtected) != 0) protection::saved(victim.granule);
        ++cache.counters.evicted;
        cache.counters.evicted_clean += written[i] ? 0 : 1;
        cache.counters.written_bytes += written[i] ? size : 0;
      }
      node.slot = victim.slot;
      caches.push(cache, victim.slot == kNoSlot ? kUnused : kVacant, victim.node, 0);
    }
  }
}

void Eviction::clean_batch(Cache& cache, uint32_t wanted) const noexcept {
  Batch batch;
  batch.kind = cache.kind;
  {
    const Held held(cache.lock);
    for (uint32_t tries = wanted; tries > 0; --tries) {
      const uint32_t number = caches.pop(cache, kProbating);
      if (number == kNoNode) break;
      const Node& node = caches.node(number);
      const Word word = table.word(node.granule).load(std::memory_order_acquire);
      if (state_of(word) == kProbation && table.claim(node.granule, word, kLeaving)) {
        batch.add(node.granule, word, node.slot);
      } else {
        caches.push(cache, kProbating, number, 0);
      }
    }
  }
  if (batch.count > 0) settle(batch, true);
}

}  // namespace ringside::memory
