// SPDX-License-Identifier: BSD-3-Clause
#include "memory/arena/regions.hpp"

#include <errno.h>

#include "memory/arena/geometry.hpp"

namespace ringside::memory {

constinit Regions regions;

namespace {

constexpr uint32_t kShared = UINT32_MAX, kNowhere = UINT32_MAX;
constexpr uint64_t kLeastWhole = uint64_t{1} << 18;  // a quarter of a piece; smaller allocations share pieces

uint32_t pages_of(uint64_t bytes) {
  return bytes == 0 ? 1 : static_cast<uint32_t>((bytes + kPage - 1) >> kPageShift);
}
uint32_t pieces_of(uint32_t pages) {
  return (pages + kPagesPerPiece - 1) / kPagesPerPiece;
}

bool is_taken(const uint64_t* taken, uint32_t bit) {
  return (taken[bit / 64] >> (bit % 64) & 1) != 0;
}
void set_taken(uint64_t* taken, uint32_t first, uint32_t count, bool on) {
  for (uint32_t bit = first; bit < first + count; ++bit) {
    const uint64_t mask = uint64_t{1} << (bit % 64);
    taken[bit / 64] = on ? taken[bit / 64] | mask : taken[bit / 64] & ~mask;
  }
}

uint32_t run_of_free(const uint64_t* taken, uint32_t count) {
  uint32_t run = 0;
  for (uint32_t bit = 0; bit < kPagesPerPiece; ++bit) {
    run = is_taken(taken, bit) ? 0 : run + 1;
    if (run == count) return bit + 1 - count;
  }
  return kNowhere;
}

}  // namespace

long Regions::start(uint32_t pieces) noexcept {
  pieces_ = pieces;
  first_free_ = shared_rover_ = 0;
  owner_ = static_cast<uint32_t*>(map_table(pieces * sizeof *owner_));
  lengths_ = static_cast<uint64_t*>(map_table(static_cast<uint64_t>(pieces) * kPagesPerPiece * sizeof *lengths_));
  shared_ = static_cast<Pages*>(map_table(pieces * sizeof *shared_));
  return owner_ == nullptr || lengths_ == nullptr || shared_ == nullptr ? -ENOMEM : 0;
}

void Regions::stop() noexcept {
  unmap_table(owner_, pieces_ * sizeof *owner_);
  unmap_table(lengths_, static_cast<uint64_t>(pieces_) * kPagesPerPiece * sizeof *lengths_);
  unmap_table(shared_, pieces_ * sizeof *shared_);
  owner_ = nullptr;
  lengths_ = nullptr;
  shared_ = nullptr;
}

Region Regions::take(uint64_t bytes, uint64_t alignment) noexcept {
  if (bytes > static_cast<uint64_t>(pieces_) << kPieceShift) return {};
  const uint32_t pages = pages_of(bytes);
  const Held held(lock_);
  if (bytes < kLeastWhole && alignment <= kPage) return take_shared(pages, bytes);
  const uint64_t step = alignment > kPiece ? alignment >> kPieceShift : 1;
  if (step > pieces_) return {};
  const uint32_t count = pieces_of(pages);
  const uint32_t piece = take_pieces(count, static_cast<uint32_t>(step));
  if (piece == kNowhere) return {};
  for (uint32_t i = 0; i < count; ++i) owner_[piece + i] = piece + 1;
  lengths_[piece * kPagesPerPiece] = bytes + 1;
  return {piece * kPagesPerPiece, pages, bytes, true};
}

// Takes the first pieces that fit, beginning with the lowest free piece. (The arena's address is aligned to all sizes
// that fit into the arena.)
uint32_t Regions::take_pieces(uint32_t count, uint32_t step) noexcept {
  while (first_free_ < pieces_ && owner_[first_free_] != 0) ++first_free_;
  for (uint32_t piece = (first_free_ + step - 1) / step * step; piece + count <= pieces_;) {
    uint32_t run = 0;
    while (run < count && owner_[piece + run] == 0) ++run;
    if (run == count) return piece;
    piece = (piece + run + step) / step * step;
  }
  return kNowhere;
}

Region Regions::take_shared(uint32_t pages, uint64_t bytes) noexcept {
  uint32_t piece = shared_rover_, first = kNowhere;
  if (piece < pieces_ && owner_[piece] == kShared) first = run_of_free(shared_[piece].taken, pages);
  for (uint32_t other = 0; first == kNowhere && other < pieces_; ++other) {
    if (owner_[other] != kShared) continue;
    piece = other;
    first = run_of_free(shared_[piece].taken, pages);
  }
  if (first == kNowhere) {
    piece = take_pieces(1, 1);
    if (piece == kNowhere) return {};
    owner_[piece] = kShared;
    shared_[piece] = {};
    first = 0;
  }
  shared_rover_ = piece;
  set_taken(shared_[piece].taken, first, pages, true);
  const uint32_t page = piece * kPagesPerPiece + first;
  lengths_[page] = bytes + 1;
  return {page, pages, bytes, false};
}

void Regions::give(const Region& region) noexcept {
  const Held held(lock_);
  lengths_[region.page] = 0;
  const uint32_t piece = region.page / kPagesPerPiece;
  if (region.whole_pieces) {
    for (uint32_t i = 0; i < pieces_of(region.pages); ++i) owner_[piece + i] = 0;
  } else {
    uint64_t* const taken = shared_[piece].taken;
    set_taken(taken, region.page % kPagesPerPiece, region.pages, false);
    if ((taken[0] | taken[1] | taken[2] | taken[3]) != 0) return;
    owner_[piece] = 0;
  }
  if (piece < first_free_) first_free_ = piece;
}

bool Regions::resize(Region& region, uint64_t bytes) noexcept {
  if (bytes > static_cast<uint64_t>(pieces_) << kPieceShift) return false;
  const uint32_t pages = pages_of(bytes);
  const Held held(lock_);
  if (!region.whole_pieces) {
    if (pages > region.pages) return false;
    const uint32_t first = region.page % kPagesPerPiece;
    set_taken(shared_[region.page / kPagesPerPiece].taken, first + pages, region.pages - pages, false);
  } else {
    const uint32_t piece = region.page / kPagesPerPiece, had = pieces_of(region.pages), wants = pieces_of(pages);
    if (piece + wants > pieces_) return false;
    for (uint32_t i = had; i < wants; ++i) {
      if (owner_[piece + i] != 0) return false;
    }
    for (uint32_t i = had; i < wants; ++i) owner_[piece + i] = piece + 1;
    for (uint32_t i = wants; i < had; ++i) owner_[piece + i] = 0;
    if (wants < had && piece + wants < first_free_) first_free_ = piece + wants;
  }
  lengths_[region.page] = bytes + 1;
  region.pages = pages;
  region.bytes = bytes;
  return true;
}

Region Regions::found(uint32_t page) const noexcept {
  const uint64_t length = lengths_[page];
  if (length == 0) return {};
  return {page, pages_of(length - 1), length - 1, owner_[page / kPagesPerPiece] != kShared};
}

Region Regions::starting_at(uint32_t page) noexcept {
  const Held held(lock_);
  return found(page);
}

Region Regions::holding(uint32_t page) noexcept {
  const Held held(lock_);
  const uint32_t owner = owner_[page / kPagesPerPiece];
  if (owner == 0) return {};
  if (owner != kShared) return found((owner - 1) * kPagesPerPiece);
  for (uint32_t start = page; start / kPagesPerPiece == page / kPagesPerPiece; --start) {
    if (lengths_[start] != 0) {
      const Region region = found(start);
      return page < start + region.pages ? region : Region{};
    }
    if (start == 0) break;
  }
  return {};
}

}  // namespace ringside::memory
