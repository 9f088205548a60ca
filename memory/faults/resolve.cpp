// SPDX-License-Identifier: BSD-3-Clause
#include "memory/faults/resolve.hpp"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/arena/granule_table.hpp"
#include "memory/far/far_file.hpp"
#include "memory/faults/read_ahead.hpp"
#include "memory/faults/run.hpp"
#include "memory/replacement/protection.hpp"

namespace ringside::memory {

constinit Resolve resolve;

namespace {

constexpr uint32_t kBounces = 8;  // buffers of 1 MiB each, populated on use

uint64_t offset_of(uint32_t page) {
  return static_cast<uint64_t>(page) << kPageShift;
}

// The first page after the granule that holds `page`, or after the piece that holds it if nothing was ever allocated in
// that piece.
uint32_t behind(uint32_t page) {
  uint32_t granule = 0, kind = 0;
  if (!Resolve::granule_of(page, &granule, &kind)) return (page / kPagesPerPiece + 1) * kPagesPerPiece;
  return granule + (1u << kind);
}

}  // namespace

long Resolve::start(const UserFault& userfault, bool ahead) noexcept {
  userfault_ = &userfault;
  read_ahead.start(!ahead);
  bounces_taken_.store(0);
  bounces_ = static_cast<char*>(map_table(kBounces * kPiece));
  const long at = raw(SYS_mmap, 0, kPiece, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bounces_ == nullptr || (at < 0 && at > -4096)) return -ENOMEM;
  zeros_ = reinterpret_cast<char*>(static_cast<uintptr_t>(at));
  raw(SYS_madvise, at, kPiece, MADV_NOHUGEPAGE);
  return 0;
}

void Resolve::stop() noexcept {
  unmap_table(bounces_, kBounces * kPiece);
  unmap_table(zeros_, kPiece);
  bounces_ = zeros_ = nullptr;
}

bool Resolve::granule_of(uint32_t page, uint32_t* granule, uint32_t* kind) noexcept {
  for (;;) {
    const uint8_t size = table.size_of_piece(page / kPagesPerPiece).load();
    if (size == 0) return false;
    if ((size & GranuleTable::kMoving) != 0) {
      yield_core();
      continue;
    }
    *kind = size - 1u;
    *granule = page & ~((1u << *kind) - 1);
    return true;
  }
}

bool Resolve::page(uint32_t page, bool store) noexcept {
  for (;;) {
    uint32_t granule = 0, kind = 0;
    if (!granule_of(page, &granule, &kind)) return false;
    const Word seen = table.word(granule).load(std::memory_order_acquire);
    const State state = state_of(seen);
    if (state == kFree) {
      if (table.size_of_piece(page / kPagesPerPiece).load() == kind + 1) return false;
      continue;  // the granule size has changed in between
    }
    if (state == kLoading || state == kLeaving) {
      table.wait(granule, seen);
      continue;
    }
    if (state == kInPlace || (state == kResident && (!store || (seen & kProtected) == 0))) return true;
    if (!table.claim(granule, seen, kLoading)) continue;
    // A thread that changes the granule size marks the piece before it claims words. So one of the two threads sees the
    // other thread's store.
    if (table.size_of_piece(page / kPagesPerPiece).load() != kind + 1) {
      table.close(granule, seen);
      continue;
    }
    if (state == kResident) {
      allow_stores(granule, kind, seen);
    } else if (state == kProbation) {
      come_back(granule, kind, seen, store);
    } else {
      load(granule, kind, seen, store);
    }
    return true;
  }
}

void Resolve::load(uint32_t granule, uint32_t kind, Word seen, bool store) noexcept {
  const uint64_t size = bytes_of(kind);
  Cache& cache = caches.of(granule, kind);
  Run run(granule, kind, seen);
  run.take(kZero, kAbsent);
  Page pages[kBatch];
  run.keep(page_supply::acquire(cache, run.count(), pages));

  // If a store waits, the content certainly changes. Otherwise write-protection can detect changes. It is used for a
  // single granule, if this has paid so far, and for a stream on a disk. Without protection, an eviction compares the
  // granule with far memory if that is mapped, and always writes it if far memory is on a disk. A granule whose far
  // memory holds zeros is compared with zeros.
  const bool can_protect = !far.mapped() || (!run.in_stream() && pages[run.own()].slot == kNoSlot);
  const bool protects = can_protect && (run.in_stream() || protection::wanted(granule));
  // On a disk, a stream whose faults are stores is assumed to store to every granule. A second fault for each granule
  // would cost more than writing the unchanged granules.
  const auto changes = [&](uint32_t i) {
    return store && (i == run.own() || (run.stored() && !far.mapped() && state_of(run.before(i)) == kAbsent));
  };
  read_blocks_ahead(granule, run);
  uint64_t read = 0;
  bool kept_protected[kBatch];
  for (uint32_t i = 0, end = 0; i < run.count(); i = end) {
    const bool zero = state_of(run.before(i)) == kZero;
    const bool changed = changes(i);
    // Neighbours with the same source and the same destination are handled by one call.
    const auto alike = [&](uint32_t j) {
      return (state_of(run.before(j)) == kZero) == zero && (!protects || changes(j) == changed) &&
             (pages[i].slot == kNoSlot ? pages[j].slot == kNoSlot : pages[j].slot == pages[i].slot + (j - i));
    };
    for (end = i + 1; end < run.count() && alike(end); ++end) continue;
    const bool protect = protects && !zero && !changed && (!far.mapped() || pages[i].slot == kNoSlot);
    const bool is_protected = fill(run.granule(i), kind, zero, pages + i, end - i, protect);
    for (uint32_t j = i; j < end; ++j) kept_protected[j] = is_protected;
    read += zero ? 0 : (end - i) * size;
  }

  const uint32_t stamp = stamp_now();
  {
    const Held held(cache.lock);
    cache.fault_of_this_thread();
    Counters& counters = cache.counters;
    ++(state_of(seen) == kZero ? counters.faults_zero : counters.faults_far);
    counters.read_bytes += read;
    counters.read_ahead += run.ahead();
    counters.read_ahead_used += run.confirmed();
    const uint32_t came = run.came_alone(cache);
    for (uint32_t i = 0; i < run.count(); ++i) {
      const uint32_t here = run.granule(i);
      Node& node = caches.node(pages[i].node);
      node.granule = here;
      node.slot = kNoSlot;
      node.came_alone = came;
      caches.push(cache, caches.ghost(cache, here) ? kMain : kSmall, pages[i].node, stamp);
    }
  }
  for (uint32_t i = 0; i < run.count(); ++i) {
    if (pages[i].slot != kNoSlot) parking.give(kind, pages[i].slot);
    const Word flags = (changes(i) ? kChanged : 0) | (state_of(run.before(i)) == kZero ? kFromZero : 0) |
                       (kept_protected[i] ? kProtected : 0);
    table.close(run.granule(i), kResident | flags | (static_cast<Word>(pages[i].node) << kNodeShift));
  }
  run.expect_next(store);
}

namespace {

// If an eighth of a block is absent, reading the whole block costs the disk less than reading single granules. `span`:
// the pages of a granule.
bool worth_reading(uint32_t page, uint32_t span) {
  constexpr uint32_t kPages = kStageBytes >> kPageShift;
  uint32_t absent = 0;
  for (uint32_t i = 0; i < kPages; i += span)
    absent += state_of(table.word(page + i).load(std::memory_order_relaxed)) == kAbsent ? span : 0U;
  return absent >= kPages / 8;
}

}  // namespace

// The disk reads the stream's next blocks while the program works on the present block. A block that begins at this
// granule is also read into a stage, which is faster for the disk than reading single pages.
void Resolve::read_blocks_ahead(uint32_t granule, const Run& run) const noexcept {
  if (!far.reads_ahead() || !run.is_long()) return;
  const uint64_t offset = offset_of(granule);
  const uint64_t first = (offset & ~(kStageBytes - 1)) + kStageBytes;
  if ((offset & (kStageBytes - 1)) == 0) far.read_ahead(offset);
  for (uint64_t next = first; next < first + kBlocksAhead * kStageBytes && next < table.bytes(); next += kStageBytes) {
    if (worth_reading(static_cast<uint32_t>(next >> kPageShift), run.span())) far.read_ahead(next);
  }
}

bool Resolve::fill(uint32_t granule, uint32_t kind, bool zero, const Page* pages, uint32_t count,
                   bool protect) noexcept {
  const uint64_t bytes = count * bytes_of(kind);  // at most 1 MiB
  char* const at = table.address(granule);
  if (pages[0].slot == kNoSlot) {  // no page yet: the kernel allocates and fills one
    if (zero || far.mapped()) {
      const uint64_t begin = far.begin_ns();
      userfault_->copy_in(at, zero ? zeros_ : far.map() + offset_of(granule), bytes, protect);
      if (!zero) far.pace(FarFile::kRead, begin, bytes);
      return protect;
    }
    char* const bounce = take_bounce();
    far.read(offset_of(granule), bounce, bytes);
    userfault_->copy_in(at, bounce, bytes, protect);
    give_bounce(bounce);
    return protect;
  }
  char* const slot = parking.address(kind, pages[0].slot);
  if (zero) {
    memset(slot, 0, bytes);
  } else {
    far.read(offset_of(granule), slot, bytes);
  }
  if (protect) return move_in_protected(at, slot, bytes);
  userfault_->move_all(at, slot, bytes);
  return false;
}

// Another thread may store between MOVE and write-protection. So the content is compared with the original afterwards.
bool Resolve::move_in_protected(char* to, char* slot, size_t bytes) noexcept {
  char* const bounce = take_bounce();
  memcpy(bounce, slot, bytes);
  userfault_->move_all(to, slot, bytes);
  userfault_->protect(to, bytes, true);
  const bool same = memcmp(bounce, to, bytes) == 0;
  if (!same) userfault_->protect(to, bytes, false);
  give_bounce(bounce);
  return same;
}

void Resolve::come_back(uint32_t granule, uint32_t kind, Word seen, bool store) noexcept {
  Cache& cache = caches.of(granule, kind);
  Run run(granule, kind, seen);
  run.take(kProbation, kProbation);
  uint32_t slots[kBatch];
  {
    const Held held(cache.lock);
    for (uint32_t i = 0; i < run.count(); ++i) {
      caches.unlink(cache, node_of(run.before(i)));
      slots[i] = caches.node(node_of(run.before(i))).slot;
    }
  }
  read_blocks_ahead(granule, run);
  Word flags[kBatch];
  for (uint32_t i = 0, end = 0; i < run.count(); i = end) {
    // A protected granule usually stays unchanged, unless a store waits for it.
    const auto stays_protected = [&](uint32_t j) {
      return (run.before(j) & kProtected) != 0 && !(store && j == run.own());
    };
    const bool protect = stays_protected(i);
    for (end = i + 1; end < run.count() && slots[end] == slots[i] + (end - i) && stays_protected(end) == protect; ++end)
      continue;
    char* const at = table.address(run.granule(i));
    char* const from = parking.address(kind, slots[i]);
    bool is_protected = false;
    if (protect) {
      is_protected = move_in_protected(at, from, (end - i) * bytes_of(kind));
    } else {
      userfault_->move_all(at, from, (end - i) * bytes_of(kind));
    }
    for (uint32_t j = i; j < end; ++j) {
      const bool changed = protect ? !is_protected : store && j == run.own();
      flags[j] = (run.before(j) & (kFlags & ~(kProtected | kCleaned))) | (is_protected ? kProtected : 0) |
                 (changed ? kChanged : 0);
      parking.give(kind, slots[j]);
    }
  }
  {
    const Held held(cache.lock);
    Counters& counters = cache.counters;
    ++counters.faults_probation;
    counters.read_ahead += run.ahead();
    counters.read_ahead_used += run.confirmed();
    const uint32_t stamp = stamp_now(), came = run.came_alone(cache);
    for (uint32_t i = 0; i < run.count(); ++i) {
      Node& node = caches.node(node_of(run.before(i)));
      node.slot = kNoSlot;
      node.came_alone = came;
      caches.push(cache, i == run.own() || node.was_main ? kMain : kSmall, node_of(run.before(i)), stamp);
    }
  }
  for (uint32_t i = 0; i < run.count(); ++i)
    table.close(run.granule(i),
                kResident | flags[i] | (static_cast<Word>(node_of(run.before(i))) << kNodeShift));
  run.expect_next(store);
}

// Stores to consecutive addresses would fault at each granule. So this function unprotects as many granules on one side
// as are marked as changed on the other side. At most half of the granules marked as changed are then unchanged.
void Resolve::allow_stores(uint32_t granule, uint32_t kind, Word seen) noexcept {
  const uint32_t span = 1u << kind, chunk = granule & ~(chunk_pages(kind) - 1), chunk_end = chunk + chunk_pages(kind);
  Word before[kBatch];
  before[(granule - chunk) >> kind] = seen;
  const auto is_changed = [](uint32_t at) {
    const Word word = table.word(at).load(std::memory_order_relaxed);
    return state_of(word) == kResident && (word & kChanged) != 0;
  };
  const auto take = [&](uint32_t at) {
    const Word word = before[(at - chunk) >> kind] = table.word(at).load(std::memory_order_acquire);
    return state_of(word) == kResident && (word & kProtected) != 0 && table.claim(at, word, kLoading);
  };
  uint32_t begin = granule, end = granule + span, changed_before = 0, changed_after = 0;
  for (uint32_t at = begin; at > chunk && is_changed(at - span); at -= span) ++changed_before;
  for (uint32_t at = end; at < chunk_end && is_changed(at); at += span) ++changed_after;
  const bool alone = changed_before + changed_after == 0;
  for (; changed_before > 0 && end < chunk_end && take(end); --changed_before) end += span;
  for (; changed_after > 0 && begin > chunk && take(begin - span); --changed_after) begin -= span;
  userfault_->protect(table.address(begin), static_cast<uint64_t>(end - begin) << kPageShift, false);
  Cache& cache = caches.of(granule, kind);
  {
    const Held held(cache.lock);
    ++cache.counters.faults_write;
    if ((seen & kCleaned) != 0) {  // the store counts as a touch, as in probation
      cache.stored_after_cleaning();
      caches.unlink(cache, node_of(seen));
      caches.push(cache, kMain, node_of(seen), stamp_now());
    }
  }
  if (alone && (seen & kCleaned) == 0) protection::stored(granule);
  for (uint32_t at = begin; at < end; at += span)
    table.close(at, (in_state(before[(at - chunk) >> kind], kResident) & ~(kProtected | kCleaned)) | kChanged);
}

char* Resolve::take_bounce() noexcept {
  for (;;) {
    uint32_t taken = bounces_taken_.load(std::memory_order_relaxed);
    if (taken == (1u << kBounces) - 1) {
      yield_core();
      continue;
    }
    const auto free = static_cast<uint32_t>(__builtin_ctz(~taken));
    if (bounces_taken_.compare_exchange_weak(taken, taken | (1u << free), std::memory_order_acquire)) {
      return bounces_ + free * kPiece;
    }
  }
}

void Resolve::give_bounce(char* buffer) noexcept {
  const auto which = static_cast<uint32_t>(static_cast<uint64_t>(buffer - bounces_) >> kPieceShift);
  bounces_taken_.fetch_and(~(1u << which), std::memory_order_release);
}

// A pin keeps the word resident, so an eviction never claims a pinned granule. A thread that owns the word (for a first
// store or a flush) preserves the pins.
long Resolve::pin(uint32_t page, bool changes) noexcept {
  for (;;) {
    if (!this->page(page, changes)) return -EFAULT;
    uint32_t granule = 0, kind = 0;
    if (!granule_of(page, &granule, &kind)) return -EFAULT;
    Word seen = table.word(granule).load(std::memory_order_acquire);
    const bool takes_dram = state_of(seen) == kResident;  // in place, a pin only keeps the chunk where it is now
    if ((!takes_dram && state_of(seen) != kInPlace) || (changes && (seen & kProtected) != 0)) continue;
    if ((seen & kPins) == kPins) return -EAGAIN;
    const bool first = (seen & kPins) == 0 && takes_dram;
    if (first) {
      // At least an eighth of the DRAM, and at least four granules, must stay unpinned.
      const uint64_t limit = caches.limit.load(), eighth = limit / 8, four = 4 * bytes_of(kind);
      const uint64_t left = eighth > four ? eighth : four;
      const uint64_t pinned = caches.pinned_bytes.fetch_add(bytes_of(kind)) + bytes_of(kind);
      if (pinned + left > limit) {
        caches.pinned_bytes.fetch_sub(bytes_of(kind));
        return -ENOMEM;
      }
    }
    const Word pinned = (seen + kOnePin) | (changes && takes_dram ? kChanged : 0);
    if (table.word(granule).compare_exchange_strong(seen, pinned)) return 0;
    if (first) caches.pinned_bytes.fetch_sub(bytes_of(kind));
  }
}

long Resolve::pin_range(uint32_t* page, uint32_t last, bool changes) noexcept {
  while (*page <= last) {
    const long result = pin(*page, changes);
    if (result != 0) return result;
    *page = behind(*page);  // the size of a pinned granule cannot change
  }
  return 0;
}

void Resolve::unpin_range(uint32_t page, uint32_t last) noexcept {
  while (page <= last) {
    const uint32_t next = behind(page);
    unpin(page);
    page = next;
  }
}

void Resolve::unpin(uint32_t page) noexcept {
  for (;;) {
    uint32_t granule = 0, kind = 0;
    if (!granule_of(page, &granule, &kind)) return;
    Word seen = table.word(granule).load(std::memory_order_acquire);
    if (state_of(seen) == kLoading || state_of(seen) == kLeaving) {
      table.wait(granule, seen);
      continue;
    }
    if ((seen & kPins) == 0) return;
    const Word next = seen - kOnePin;
    if (!table.word(granule).compare_exchange_strong(seen, next)) continue;
    if ((next & kPins) == 0 && state_of(next) != kInPlace) caches.pinned_bytes.fetch_sub(bytes_of(kind));
    return;
  }
}

}  // namespace ringside::memory
