// SPDX-License-Identifier: BSD-3-Clause
#include "memory/faults/resolve.hpp"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/arena/granule_table.hpp"
#include "memory/far/far_file.hpp"
#include "memory/faults/read_ahead.hpp"
#include "memory/replacement/protection.hpp"

namespace ringside::memory {

constinit Resolve resolve;

namespace {

constinit ReadAhead read_ahead;

constexpr uint32_t kBounces = 8;                    // of 1 MiB each, populated as far as they are used
constexpr uint64_t kMostAhead = uint64_t{1} << 18;  // bytes of a stream at once: more gained nothing

uint64_t offset_of(uint32_t page) {
  return static_cast<uint64_t>(page) << kPageShift;
}

}  // namespace

long Resolve::start(const UserFault& userfault, bool ahead) noexcept {
  userfault_ = &userfault;
  ahead_ = ahead;
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
      continue;  // the granule size changed in between
    }
    if (state == kLoading || state == kLeaving) {
      table.wait(granule, seen);
      continue;
    }
    if (state == kInPlace || (state == kResident && (!store || (seen & kProtected) == 0))) return true;
    if (!table.claim(granule, seen, kLoading)) continue;
    // Who changes the granule size marks the piece first and claims the words then: one of the two sees the other.
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
  const uint32_t span = 1u << kind;
  Cache& cache = caches.of(granule, kind);
  // Granules to bring in: of the same cache and piece, and not more than a sixteenth of the DRAM.
  const uint32_t chunk_end = (granule | (chunk_pages(kind) - 1)) + 1;
  uint64_t most = kMostAhead / size;
  if (most > caches.limit.load(std::memory_order_relaxed) / 16 / size)
    most = caches.limit.load(std::memory_order_relaxed) / 16 / size;
  if (most > kBatch) most = kBatch;
  const auto advice =
      static_cast<Advice>(table.advice_of_piece(granule / kPagesPerPiece).load(std::memory_order_relaxed));
  uint32_t confirmed = 0;
  bool stored = false;
  const uint32_t planned =
      read_ahead.plan(granule, advice, most > 0 ? static_cast<uint32_t>(most) : 1, &confirmed, &stored);
  uint32_t count = 1;
  Word before[kBatch];
  before[0] = seen;
  while (count < planned) {
    const uint32_t next = granule + count * span;
    if (next >= chunk_end) break;
    before[count] = table.word(next).load(std::memory_order_acquire);
    const State state = state_of(before[count]);
    if ((state != kZero && state != kAbsent) || !table.claim(next, before[count], kLoading)) break;
    ++count;
  }
  Page pages[kBatch];
  const uint32_t got = eviction.acquire(cache, count, pages);
  while (count > got) {
    --count;
    table.close(granule + count * span, in_state(before[count], state_of(before[count])));
  }

  // The content differs from far memory for certain when a store waits. Otherwise write-protection keeps count: for a
  // granule alone, if that has paid, and for a stream on a disk. Without it a granule is compared at eviction where far
  // memory is mapped, and written on a disk. What came from zeros is compared with zeros.
  const bool can_protect = !far.mapped() || (planned == 1 && pages[0].slot == kNoSlot);
  const bool protects = can_protect && (planned > 1 || protection::wanted(granule));
  // On a disk a stream whose faults are by stores is taken to store everywhere: a second fault for each granule would
  // cost more than to write those that it leaves out.
  const auto changes = [&](uint32_t i) {
    return store && (i == 0 || (stored && !far.mapped() && state_of(before[i]) == kAbsent));
  };
  // Granules as large as what a stream brings in come alone: it is one if this fault was expected.
  const bool in_stream = planned > 1 || (most <= 1 && read_ahead.expects(granule, advice));
  if (far.reads_ahead() && in_stream && planned * size >= kMostAhead / 8) read_blocks_ahead(offset_of(granule), kind);
  uint64_t read = 0;
  bool kept_protected[kBatch];
  for (uint32_t i = 0; i < count;) {
    const bool zero = state_of(before[i]) == kZero;
    const bool changed = changes(i);
    uint32_t run = 1;
    // One call for neighbours that come from the same place to the same place.
    while (i + run < count && (state_of(before[i + run]) == kZero) == zero &&
           (!protects || changes(i + run) == changed) &&
           (pages[i].slot == kNoSlot ? pages[i + run].slot == kNoSlot : pages[i + run].slot == pages[i].slot + run)) {
      ++run;
    }
    const bool is_protected = fill(granule + i * span, kind, zero, pages + i, run, protects && !zero && !changed);
    for (uint32_t j = i; j < i + run; ++j) kept_protected[j] = is_protected;
    read += zero ? 0 : run * size;
    i += run;
  }

  const uint32_t stamp = stamp_now();
  {
    const Held held(cache.lock);
    cache.fault_of_this_thread();
    Counters& counters = cache.counters;
    ++(state_of(seen) == kZero ? counters.faults_zero : counters.faults_far);
    counters.read_bytes += read;
    counters.read_ahead += count - 1;
    counters.read_ahead_used += confirmed;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t here = granule + i * span;
      Node& node = caches.node(pages[i].node);
      node.granule = here;
      node.slot = kNoSlot;
      caches.push(cache, caches.ghost(cache, here) ? kMain : kSmall, pages[i].node, stamp);
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (pages[i].slot != kNoSlot) parking.give(kind, pages[i].slot);
    const Word flags = (changes(i) ? kChanged : 0) | (state_of(before[i]) == kZero ? kFromZero : 0) |
                       (kept_protected[i] ? kProtected : 0);
    table.close(granule + i * span, kResident | flags | (static_cast<Word>(pages[i].node) << kNodeShift));
  }
  // Where the stream faults next: behind what came in and what is there already.
  uint32_t next = granule + count * span;
  for (uint32_t looked = 0; looked < kBatch && next < table.bytes() >> kPageShift; ++looked, next += span) {
    const State state = state_of(table.word(next).load(std::memory_order_relaxed));
    if (state == kZero || state == kAbsent || state == kFree) break;
  }
  read_ahead.expect(next, planned, count, store);
}

namespace {

// A block of which an eighth is absent costs the disk less than its single granules. `span`: pages of a granule.
bool worth_reading(uint32_t page, uint32_t span) {
  constexpr uint32_t kPages = kStageBytes >> kPageShift;
  uint32_t absent = 0;
  for (uint32_t i = 0; i < kPages; i += span)
    absent += state_of(table.word(page + i).load(std::memory_order_relaxed)) == kAbsent ? span : 0U;
  return absent >= kPages / 8;
}

}  // namespace

// The stream is going to need the next blocks: the disk reads them while the program works on this one. A block that
// begins here is read that way, too: a stage is faster for the disk than single pages.
void Resolve::read_blocks_ahead(uint64_t offset, uint32_t kind) const noexcept {
  if (bytes_of(kind) > kStageBytes) return;  // a stage holds no such granule
  const uint64_t first = (offset & ~(kStageBytes - 1)) + kStageBytes;
  if ((offset & (kStageBytes - 1)) == 0) far.read_ahead(offset);
  for (uint64_t next = first; next < first + kBlocksAhead * kStageBytes && next < table.bytes(); next += kStageBytes) {
    if (worth_reading(static_cast<uint32_t>(next >> kPageShift), 1u << kind)) far.read_ahead(next);
  }
}

bool Resolve::fill(uint32_t granule, uint32_t kind, bool zero, const Page* pages, uint32_t count,
                   bool protect) noexcept {
  const uint64_t bytes = count * bytes_of(kind);  // at most 1 MiB
  char* const at = table.address(granule);
  if (pages[0].slot == kNoSlot) {  // no page yet: the kernel takes one and fills it
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
  move_in(at, slot, bytes);
  return false;
}

void Resolve::move_in(char* to, char* slot, size_t bytes) const noexcept {
  for (size_t done = 0; done < bytes;) {
    done += userfault_->move(to + done, slot + done, bytes - done);
    if (done < bytes) yield_core();  // the kernel holds the page for an instant (compaction)
  }
}

// Between MOVE and write-protection another thread may store. The content is compared once with what it was.
bool Resolve::move_in_protected(char* to, char* slot, size_t bytes) noexcept {
  char* const bounce = take_bounce();
  memcpy(bounce, slot, bytes);
  move_in(to, slot, bytes);
  userfault_->protect(to, bytes, true);
  const bool same = memcmp(bounce, to, bytes) == 0;
  if (!same) userfault_->protect(to, bytes, false);
  give_bounce(bounce);
  return same;
}

void Resolve::come_back(uint32_t granule, uint32_t kind, Word seen, bool store) noexcept {
  Cache& cache = caches.of(granule, kind);
  const uint32_t number = node_of(seen);
  {
    const Held held(cache.lock);
    caches.unlink(cache, number);
  }
  const uint32_t slot = caches.node(number).slot;
  Word flags = seen & (kFlags & ~(kProtected | kCleaned));
  char* const at = table.address(granule);
  char* const from = parking.address(kind, slot);
  if (store || (seen & kProtected) == 0) {
    move_in(at, from, bytes_of(kind));
    if (store) flags |= kChanged;
  } else {  // known to be unchanged, as it will be most often
    flags |= move_in_protected(at, from, bytes_of(kind)) ? kProtected : kChanged;
  }
  parking.give(kind, slot);
  {
    const Held held(cache.lock);
    ++cache.counters.faults_probation;
    caches.node(number).slot = kNoSlot;
    caches.push(cache, kMain, number, stamp_now());
  }
  table.close(granule, kResident | flags | (static_cast<Word>(number) << kNodeShift));
}

// Stores that go through memory in some order would fault at each granule: as many granules as are changed on one side
// become open on the other side, too. So no more than half of what is taken as changed is so by mistake.
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
    if ((seen & kCleaned) != 0) {  // a touch that was seen: as one in probation
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

// A pin keeps the word resident: a granule with pins is never claimed by an eviction. An owner of the word (a first
// store, a flush) keeps the pins.
long Resolve::pin(uint32_t page, bool changes) noexcept {
  for (;;) {
    if (!this->page(page, changes)) return -EFAULT;
    uint32_t granule = 0, kind = 0;
    if (!granule_of(page, &granule, &kind)) return -EFAULT;
    Word seen = table.word(granule).load(std::memory_order_acquire);
    const bool takes_dram = state_of(seen) == kResident;  // in place a pin only keeps the chunk where it is
    if ((!takes_dram && state_of(seen) != kInPlace) || (changes && (seen & kProtected) != 0)) continue;
    if ((seen & kPins) == kPins) return -EAGAIN;
    const bool first = (seen & kPins) == 0 && takes_dram;
    if (first) {
      // An eighth of the DRAM is left for what is not pinned, and at least four granules.
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
