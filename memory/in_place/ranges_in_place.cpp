// SPDX-License-Identifier: BSD-3-Clause
// Operations on a range in place: the range is freed, cleared, made cached, returned to far memory, or written.
// (ranges.cpp has these operations for granules.)
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/arena/granule_table.hpp"
#include "memory/far/far_file.hpp"
#include "memory/in_place/in_place.hpp"

namespace ringside::memory {

// Before a chunk is freed or cleared: takes the chunk's words. If the chunk has a frame, first waits until no system
// call uses the frame.
bool InPlace::own_unpinned(uint32_t chunk) noexcept {
  bool pinned = false;
  while (own_surely(chunk, &pinned)) {
    if (!pinned || !promoted(chunk)) return true;
    disown(chunk);
    yield_core();
  }
  return false;
}

bool InPlace::expel(uint32_t page, uint32_t pages, Expel how) noexcept {
  if (how == Expel::kForget) {
    forget(page, pages);
    return true;
  }
  const uint32_t end = page + pages;
  bool pinned = false;
  for (uint32_t chunk = page >> shift_; chunk <= (end - 1) >> shift_; ++chunk) {
    bool used = false;
    if (!(how == Expel::kKeep ? own_surely(chunk, &used) : own_unpinned(chunk))) continue;
    if (used) {
      disown(chunk);
      pinned = true;
      continue;
    }
    while (!back_to_far(chunk)) yield_core();  // no mapping is left: another thread may release some
    const uint32_t first = chunk << shift_, next = first + pages_per_chunk();
    if (how == Expel::kClear) {
      const uint32_t from = page > first ? page : first, to = end < next ? end : next;
      const uint64_t begin = far.begin_ns();
      memset(far.map() + (static_cast<uint64_t>(from) << kPageShift), 0, static_cast<size_t>(to - from) << kPageShift);
      far.pace(FarFile::kWrite, begin, static_cast<size_t>(to - from) << kPageShift);
    }
    disown(chunk);
  }
  return !pinned;
}

void InPlace::forget(uint32_t page, uint32_t pages) noexcept {
  const uint32_t end = page + pages;
  for (uint32_t chunk = page >> shift_; chunk <= (end - 1) >> shift_; ++chunk) {
    const uint32_t first = chunk << shift_, next = first + pages_per_chunk();
    if (page <= first && next <= end) {
      bool ignored = false;  // the program frees memory that its own call is using
      own_surely(chunk, &ignored);
      continue;
    }
    own_unpinned(chunk);  // a part of the chunk is not freed
    while (!back_to_far(chunk)) yield_core();
    for (uint32_t i = first; i < next; ++i) {
      if (i < page || i >= end) disown_page(i);
    }
  }
  give_back(page, pages, kFree);
}

// pages: pages that the caller owns. Watches their addresses again and sets their words.
void InPlace::give_back(uint32_t page, uint32_t pages, State state) noexcept {
  const uint32_t end = page + pages;
  const Held held(sampling_lock_);
  // The range is watched up to the end of the piece, where nothing is allocated, so that a call that fills granules
  // does not cross from one mapping to another.
  uint32_t watched = end;
  while (watched % kPagesPerPiece != 0 && state_of(table.word(watched).load()) == kFree) ++watched;
  const long result = table.restore(page, watched - page, core.userfault);
  if (result < 0) die("cannot give addresses of far memory back (mmap)", result);
  for (uint32_t chunk = page >> shift_; chunk <= (end - 1) >> shift_; ++chunk) {
    const uint32_t frame = chunks_[chunk].frame.exchange(0);
    chunks_[chunk].history.store(0);
    chunks_[chunk].generation.fetch_add(1);
    if (frame == 0) continue;
    give_frame(frame - 1);
    promoted_bytes.fetch_sub(chunk_bytes());
  }
  for (uint32_t piece = page / kPagesPerPiece; piece <= (end - 1) / kPagesPerPiece; ++piece) {
    bool any = false;
    for (uint32_t i = piece * kPagesPerPiece; i < (piece + 1) * kPagesPerPiece && !any; ++i)
      any = (i < page || i >= end) && state_of(table.word(i).load()) != kFree;
    if (!any) pieces_[piece].store(0);
  }
  for (uint32_t i = page; i < end; ++i) table.close(i, state);
  bytes.fetch_sub(static_cast<uint64_t>(pages) << kPageShift);
}

bool InPlace::cache(uint32_t page, uint32_t pages) noexcept {
  const uint32_t first = page >> shift_, last = (page + pages - 1) >> shift_;
  bool possible_now = true;
  uint32_t owned = first;
  for (; owned <= last && possible_now; ++owned) {
    bool pinned = false;
    if (!own_surely(owned, &pinned)) break;  // another thread makes the chunk cached
    possible_now = !pinned && may_move() && back_to_far(owned);
  }
  if (owned > last && possible_now) {
    give_back(page, pages, kAbsent);
    return true;
  }
  for (uint32_t chunk = first; chunk < owned; ++chunk) disown(chunk);
  return possible_now;
}

void InPlace::write_back(uint32_t page, uint32_t pages) noexcept {
  for (uint32_t chunk = page >> shift_; chunk <= (page + pages - 1) >> shift_; ++chunk) {
    if (!promoted(chunk) || !own(chunk)) continue;  // pinned chunks are written when they leave
    if (promoted(chunk) && protect(chunk, PROT_READ)) {
      copy_back(chunk);
      if (!protect(chunk, PROT_READ | PROT_WRITE)) die("cannot make promoted memory writable again", -ENOMEM);
    }
    disown(chunk);
  }
}

}  // namespace ringside::memory
