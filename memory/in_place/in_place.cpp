// SPDX-License-Identifier: BSD-3-Clause
#include "memory/in_place/in_place.hpp"

#include <errno.h>
#include <linux/falloc.h>
#include <linux/memfd.h>
#include <string.h>
#include <sys/mman.h>

#include <initializer_list>

#include "memory/arena/granule_table.hpp"
#include "memory/far/far_file.hpp"
#include "memory/in_place/sampling.hpp"
#include "memory/replacement/page_supply.hpp"

namespace ringside::memory {

constinit InPlace in_place;

namespace {

bool failed(long result) {
  return result < 0 && result > -4096;
}

/// Maps a file over the present mapping, atomically: a thread sees either the old mapping or the new one.
long map_over(char* at, uint64_t length, int file, uint64_t offset) {
  const long result = raw(SYS_mmap, as_long(at), static_cast<long>(length), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, static_cast<long>(offset));
  if (failed(result)) return result;
  raw(SYS_madvise, as_long(at), static_cast<long>(length), MADV_DONTFORK);
  return 0;
}

Placement decide(uint32_t asked) {
  if (!far.mapped()) return RINGSIDE_MEMORY_CACHED_ON_DISK;
  if (asked == 2) return RINGSIDE_MEMORY_CACHED_AS_ASKED;
  if (asked == 1) return RINGSIDE_MEMORY_IN_PLACE_AS_ASKED;
  return far.is_dax() ? RINGSIDE_MEMORY_IN_PLACE_ON_DAX : RINGSIDE_MEMORY_CACHED_IN_MEMORY;
}

}  // namespace

const char* reason(Placement placement) noexcept {
  switch (placement) {
    case RINGSIDE_MEMORY_CACHED_ON_DISK: return "it is on a disk";
    case RINGSIDE_MEMORY_CACHED_IN_MEMORY: return "tmpfs is DRAM itself, outside the limit";
    case RINGSIDE_MEMORY_CACHED_AS_ASKED: return "the option in_place is never";
    case RINGSIDE_MEMORY_IN_PLACE_ON_DAX: return "it is on DAX";
    case RINGSIDE_MEMORY_IN_PLACE_AS_ASKED: return "the option in_place is always";
  }
  return "";
}

long InPlace::start(uint32_t asked, uint64_t limit, uint64_t most_dram) noexcept {
  placement_ = decide(asked);
  if (!possible()) return 0;
  // The kernel allows 65530 mappings per process; each promoted chunk that is surrounded by chunks in place needs one
  // of them.
  constexpr uint64_t kMostChunks = 16384;
  shift_ = 4;
  while (shift_ < kPieceShift - kPageShift && limit / chunk_bytes() > kMostChunks) shift_ += 2;
  most_frames_ = most_dram / chunk_bytes();
  if (most_frames_ > UINT32_MAX / 2) most_frames_ = UINT32_MAX / 2;
  empties_ = frames_made_ = 0;
  const long file = out_of_the_way(raw(SYS_memfd_create, as_long("ringside_memory frames"), MFD_CLOEXEC));
  if (file < 0) return file;
  frames_file_ = static_cast<int>(file);
  const long sized = raw(SYS_ftruncate, frames_file_, static_cast<long>(most_frames_ * chunk_bytes()));
  if (sized < 0) return sized;
  chunks_ = static_cast<Chunk*>(map_table((table.bytes() / chunk_bytes()) * sizeof(Chunk)));
  pieces_ = static_cast<std::atomic<uint8_t>*>(map_table(table.pieces()));
  empty_ = static_cast<uint32_t*>(map_table(most_frames_ * sizeof(uint32_t)));
  if (chunks_ == nullptr || pieces_ == nullptr || empty_ == nullptr) return -ENOMEM;
  return 0;
}

void InPlace::stop() noexcept {
  unmap_table(chunks_, chunks_ == nullptr ? 0 : (table.bytes() / chunk_bytes()) * sizeof(Chunk));
  unmap_table(pieces_, table.pieces());
  unmap_table(empty_, most_frames_ * sizeof(uint32_t));
  chunks_ = nullptr;
  pieces_ = nullptr;
  empty_ = nullptr;
  if (frames_file_ >= 0) raw(SYS_close, frames_file_);
  frames_file_ = -1;
  placement_ = RINGSIDE_MEMORY_CACHED_AS_ASKED;
  for (auto* counter : {&bytes, &promoted_bytes, &promotions, &demotions, &sampled, &touched}) counter->store(0);
}

// As long as all memory fits into DRAM, regions are cached, because after the first touch of a page the cache is as
// fast as DRAM.
bool InPlace::wanted(uint64_t size) const noexcept {
  if (!possible() || size < kPiece) return false;
  return placement_ == RINGSIDE_MEMORY_IN_PLACE_AS_ASKED || core.far_bytes.load() + size > caches.limit.load();
}

long InPlace::map(uint32_t page, uint32_t pages) noexcept {
  const uint64_t from = static_cast<uint64_t>(page) << kPageShift, length = static_cast<uint64_t>(pages) << kPageShift;
  const long result = map_over(table.address(page), length, far.descriptor(), from);
  if (result < 0) return result;
  for (uint32_t piece = page / kPagesPerPiece; piece <= (page + pages - 1) / kPagesPerPiece; ++piece)
    pieces_[piece].store(1);
  for (uint32_t i = page; i < page + pages; ++i) table.close(i, kInPlace);
  bytes.fetch_add(length);
  sampling.wake();
  return 0;
}

// --- owning a chunk

char* InPlace::address(uint32_t chunk) const noexcept {
  return table.address(chunk << shift_);
}

bool InPlace::own(uint32_t chunk) noexcept {
  const uint32_t first = chunk << shift_, end = first + pages_per_chunk();
  for (uint32_t page = first; page < end; ++page) {
    const Word seen = table.word(page).load(std::memory_order_acquire);
    if (state_of(seen) == kInPlace && (seen & kPins) == 0 && table.claim(page, seen, kLeaving)) continue;
    for (uint32_t back = first; back < page; ++back) table.close(back, kInPlace);
    return false;
  }
  return true;
}

// All threads take the words of a chunk in the same order, so two owners cannot wait for each other. A thread that
// makes the region cached also takes the first word first, so it owns the chunk exclusively.
bool InPlace::own_surely(uint32_t chunk, bool* pinned) noexcept {
  *pinned = false;
  for (uint32_t page = chunk << shift_; page < (chunk + 1) << shift_; ++page) {
    const Word seen = table.claim_surely(page, kLeaving);
    if (state_of(seen) != kInPlace && state_of(seen) != kFree) {
      table.close(page, in_state(seen, state_of(seen)));
      return false;
    }
    *pinned = *pinned || (seen & kPins) != 0;
  }
  return true;
}

void InPlace::disown(uint32_t chunk) noexcept {
  for (uint32_t page = chunk << shift_; page < (chunk + 1) << shift_; ++page) {
    disown_page(page);
  }
}

void InPlace::disown_page(uint32_t page) noexcept {
  const Word word = table.word(page).load(std::memory_order_relaxed);
  if (state_of(word) == kLeaving) table.close(page, in_state(word, kInPlace));
}

// --- moving a chunk

bool InPlace::protect(uint32_t chunk, int protection) noexcept {
  // The move is counted before any thread can fault because of it: see explains.
  chunks_[chunk].generation.fetch_add(1);
  return raw(SYS_mprotect, as_long(address(chunk)), static_cast<long>(chunk_bytes()), protection) == 0;
}

bool InPlace::take_frame(uint32_t* frame) noexcept {
  if (!caches.charge(chunk_bytes())) return false;
  const Held held(lock_);
  if (empties_ > 0) {
    *frame = empty_[--empties_];
  } else if (frames_made_ < most_frames_) {
    *frame = frames_made_++;
  } else {
    caches.uncharge(chunk_bytes());
    return false;
  }
  return true;
}

void InPlace::give_frame(uint32_t frame) noexcept {
  raw(SYS_fallocate, frames_file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<long>(frame * chunk_bytes()),
      static_cast<long>(chunk_bytes()));
  {
    const Held held(lock_);
    empty_[empties_++] = frame;
  }
  caches.uncharge(chunk_bytes());
}

bool InPlace::promote(uint32_t chunk) noexcept {
  uint32_t frame = 0;
  if (promoted(chunk) || !take_frame(&frame)) return false;
  if (!own(chunk)) {
    give_frame(frame);
    return false;
  }
  bool done = false;
  if (may_move() && protect(chunk, PROT_READ)) {
    // A system call makes the copy, so that the frame needs no second mapping; with one, the frame would count twice as
    // resident memory.
    const uint64_t begin = far.begin_ns();
    const auto size = static_cast<long>(chunk_bytes());
    const long copied = raw(SYS_pwrite64, frames_file_, as_long(far.map() + offset(chunk)), size,
                            static_cast<long>(frame * chunk_bytes()));
    far.pace(FarFile::kRead, begin, chunk_bytes());
    done = copied == size && map_over(address(chunk), chunk_bytes(), frames_file_, frame * chunk_bytes()) == 0;
    if (!done && !protect(chunk, PROT_READ | PROT_WRITE)) die("cannot make far memory writable again", -ENOMEM);
  }
  if (done) {
    chunks_[chunk].frame.store(frame + 1);
    promoted_bytes.fetch_add(chunk_bytes());
    promotions.fetch_add(1);
  } else {
    give_frame(frame);
  }
  disown(chunk);
  return done;
}

// Only the differences are written, because far memory wears out, and because its writes are slower than its reads.
void InPlace::copy_back(uint32_t chunk) noexcept {
  const char* const near = address(chunk);
  for (uint64_t done = 0; done < chunk_bytes(); done += kPage) {
    const uint64_t begin = far.begin_ns();
    const bool same = memcmp(near + done, far.map() + offset(chunk) + done, kPage) == 0;
    far.pace(FarFile::kRead, begin, kPage);
    if (!same) far.write(offset(chunk) + done, near + done, kPage);
  }
}

bool InPlace::back_to_far(uint32_t chunk) noexcept {
  const uint32_t frame = chunks_[chunk].frame.load();
  if (frame == 0) return true;
  if (!protect(chunk, PROT_READ)) return false;
  copy_back(chunk);
  if (map_over(address(chunk), chunk_bytes(), far.descriptor(), offset(chunk)) != 0) {
    if (!protect(chunk, PROT_READ | PROT_WRITE)) die("cannot make promoted memory writable again", -ENOMEM);
    return false;
  }
  chunks_[chunk].frame.store(0);
  chunks_[chunk].history = 0;
  give_frame(frame - 1);
  promoted_bytes.fetch_sub(chunk_bytes());
  demotions.fetch_add(1);
  return true;
}

bool InPlace::may_move() noexcept {
  return !core.userfault.kernel_faults && !caches.devices_store.load();
}

bool InPlace::demote(uint32_t chunk) noexcept {
  if (!promoted(chunk) || !own(chunk)) return false;
  const bool done = may_move() && back_to_far(chunk);
  disown(chunk);
  return done;
}

uint64_t InPlace::share() const noexcept {
  const uint64_t limit = caches.limit.load(), pinned = caches.pinned_bytes.load();
  const auto here = static_cast<double>(bytes.load()), all = static_cast<double>(core.far_bytes.load());
  auto part = here < all ? static_cast<uint64_t>(static_cast<double>(limit) * (here / all)) : limit;
  if (part > limit - limit / 8) part = limit - limit / 8;
  return part > pinned ? part - pinned : 0;
}

bool InPlace::has_room() const noexcept {
  if (promoted_bytes.load() + chunk_bytes() > share()) return false;
  if (caches.dram_bytes.load() + chunk_bytes() > caches.limit.load()) page_supply::release(chunk_bytes());
  return true;
}

bool InPlace::shrink(uint64_t most) noexcept {
  constexpr uint64_t kPatienceNs = 10'000'000'000;
  const uint64_t begin = now_ns();
  while (possible() && promoted_bytes.load() > most) {
    for (uint32_t piece = 0; piece < table.pieces() && promoted_bytes.load() > most; ++piece) {
      if (pieces_[piece].load() == 0) continue;
      const uint32_t first = piece << (kPieceShift - kPageShift - shift_);
      for (uint32_t i = 0; i < kPagesPerPiece >> shift_ && promoted_bytes.load() > most; ++i) demote(first + i);
    }
    if (now_ns() - begin > kPatienceNs) return promoted_bytes.load() <= most;
    if (promoted_bytes.load() > most) yield_core();
  }
  return true;
}

// --- for samples and faults

bool InPlace::forget_touches(uint32_t piece) noexcept {
  const Held held(sampling_lock_);
  if (pieces_[piece].load() == 0) return false;
  raw(SYS_madvise, as_long(table.address(piece * kPagesPerPiece)), kPiece, MADV_DONTNEED);
  return true;
}

bool InPlace::explains(uint32_t page) noexcept {
  if (!core.ready() || !possible()) return false;
  const Word word = table.word(page).load(std::memory_order_acquire);
  if (state_of(word) == kLeaving) {
    table.wait(page, word);
    return true;
  }
  // The move may have ended before this thread looked. That explains the fault only if the mapping has changed since
  // this thread's last fault at this page.
  const auto me = reinterpret_cast<uintptr_t>(__builtin_thread_pointer());
  std::atomic<uint64_t>& last = seen_[(me >> 6) * 0x9E3779B97F4A7C15u >> 56];
  const uint64_t now = (static_cast<uint64_t>(page) << 16 | chunks_[page >> shift_].generation.load()) + 1;
  return last.exchange(now) != now;
}

}  // namespace ringside::memory
