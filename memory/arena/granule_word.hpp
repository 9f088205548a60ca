// SPDX-License-Identifier: BSD-3-Clause
// What the table knows of a granule, in one word: its state, its flags, its pins and its node (the DRAM that it has).
#pragma once

#include <stdint.h>

namespace ringside::memory {

using Word = uint64_t;

enum State : Word {
  kFree = 0,       // not allocated
  kZero = 1,       // never written: it reads as zeros
  kAbsent = 2,     // its content is in far memory only
  kLoading = 3,    // one thread is changing the granule; others wait
  kLeaving = 4,    // the same, on its way out
  kResident = 5,   // mapped
  kProbation = 6,  // not mapped, but still in DRAM
  kInPlace = 7,    // its address is far memory itself, or a promoted chunk: always mapped
};

inline constexpr Word kStateMask = 7;
inline constexpr Word kChanged = 1u << 3;    // differs from far memory for certain
inline constexpr Word kProtected = 1u << 4;  // write-protected: it does not differ
inline constexpr Word kWaiters = 1u << 5;    // threads sleep on the word
inline constexpr Word kFromZero = 1u << 6;   // far memory holds zeros for it
inline constexpr Word kCleaned = 1u << 7;    // protected because an eviction came near, not since it was loaded
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
