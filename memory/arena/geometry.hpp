// SPDX-License-Identifier: BSD-3-Clause
// The sizes that all folders of memory share: pages, granules (a power of two of pages; the exponent is the kind) and
// pieces. Also the table's word for a granule: its state, its flags, its pins and its node (the DRAM that the granule
// has).
#pragma once

#include <stdint.h>

namespace ringside::memory {

inline constexpr uint32_t kPageShift = 12, kPieceShift = 20;
inline constexpr uint64_t kPage = uint64_t{1} << kPageShift, kPiece = uint64_t{1} << kPieceShift;
inline constexpr uint32_t kPagesPerPiece = uint32_t{1} << (kPieceShift - kPageShift);
inline constexpr uint32_t kKinds = kPieceShift - kPageShift + 1;  // granules of 4 KiB to 1 MiB
inline constexpr uint32_t kBatch = 64;                            // the most granules that move together
inline constexpr uint64_t kMostAlignment = uint64_t{1} << 30;     // the largest alignment of an allocation
/// The size of a granule.
inline constexpr uint64_t bytes_of(uint32_t kind) noexcept {
  return kPage << kind;
}
/// The pages of a chunk. A chunk has 64 granules, all in one cache, but is at most a piece, because all granules of a
/// piece have the same size.
inline constexpr uint32_t chunk_pages(uint32_t kind) noexcept {
  return kBatch << kind < kPagesPerPiece ? kBatch << kind : kPagesPerPiece;
}

using Word = uint64_t;

enum State : Word {
  kFree = 0,       // not allocated
  kZero = 1,       // never written: reads return zeros
  kAbsent = 2,     // the content is in far memory only
  kLoading = 3,    // one thread is changing the granule; other threads wait
  kLeaving = 4,    // the same as kLoading, but the granule leaves DRAM
  kResident = 5,   // mapped
  kProbation = 6,  // not mapped, but still in DRAM
  kInPlace = 7,    // always mapped: far memory itself, or a promoted chunk, is at this address
};

inline constexpr Word kStateMask = 7;
inline constexpr Word kChanged = 1u << 3;    // the content certainly differs from far memory
inline constexpr Word kProtected = 1u << 4;  // write-protected, so the content equals far memory
inline constexpr Word kWaiters = 1u << 5;    // threads sleep on the word
inline constexpr Word kFromZero = 1u << 6;   // far memory holds zeros for the granule
inline constexpr Word kCleaned = 1u << 7;    // write-protected by an eviction, not when the granule came in
inline constexpr Word kFlags = kChanged | kProtected | kFromZero;
inline constexpr int kPinShift = 8, kNodeShift = 24;
inline constexpr Word kOnePin = Word{1} << kPinShift, kPins = Word{0xffff} << kPinShift;

inline State state_of(Word word) noexcept {
  return static_cast<State>(word & kStateMask);
}
inline uint32_t node_of(Word word) noexcept {
  return static_cast<uint32_t>(word >> kNodeShift);
}
inline Word in_state(Word word, State state) noexcept {
  return (word & ~(kStateMask | kWaiters)) | state;
}

}  // namespace ringside::memory
