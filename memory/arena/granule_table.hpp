// SPDX-License-Identifier: BSD-3-Clause
// The arena's addresses and the table of its granules: one atomic word for each 4 KiB (a larger granule uses the word
// of its first page), and one byte for each 1 MiB with the granule size. A thread that swaps a word to loading or
// leaving owns the granule until it stores the word again (close).
#pragma once

#include <stdint.h>

#include <atomic>

#include "memory/arena/geometry.hpp"
#include "memory/arena/userfault.hpp"

namespace ringside::memory {

enum Advice : uint8_t { kAdviceNormal, kAdviceRandom, kAdviceSequential };

class GranuleTable {
 public:
  /// Selects another of the kPlaces addresses for the arena. Call it before start.
  void place_at(uint32_t number) noexcept { place_ = number % kPlaces; }
  static constexpr uint32_t kPlaces = 48;

  /// Reserves `bytes` bytes of addresses, which must be whole pieces. Returns 0 or -errno.
  long start(uint64_t bytes) noexcept;
  void stop() noexcept;
  /// In a forked child, which did not inherit the arena: reserves the same addresses. Allocated granules become absent,
  /// except those that are zero, which stay zero. Returns 0 or -errno.
  long adopt() noexcept;

  bool owns(const void* address) const noexcept {
    return reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(base_) < bytes_;
  }
  uint64_t bytes() const noexcept { return bytes_; }
  uint32_t pieces() const noexcept { return static_cast<uint32_t>(bytes_ >> kPieceShift); }
  uint32_t page_of(const void* address) const noexcept {
    return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(base_)) >>
                                 kPageShift);
  }
  char* address(uint32_t page) const noexcept { return base_ + (static_cast<uint64_t>(page) << kPageShift); }

  std::atomic<Word>& word(uint32_t page) const noexcept { return words_[page]; }
  /// 1 + the kind of a piece's granules; 0: nothing is allocated there. kMoving is added to the byte while the kind
  /// changes.
  std::atomic<uint8_t>& size_of_piece(uint32_t piece) const noexcept { return sizes_[piece]; }
  std::atomic<uint8_t>& advice_of_piece(uint32_t piece) const noexcept { return advice_[piece]; }
  /// See memory/replacement/protection.hpp.
  std::atomic<int8_t>& protection_of_piece(uint32_t piece) const noexcept { return protection_[piece]; }
  /// See memory/replacement/neighbourhood.hpp.
  std::atomic<int8_t>& neighbours_of_piece(uint32_t piece) const noexcept { return neighbours_[piece]; }

  /// Takes the granule if its word is still equal to `seen`.
  bool claim(uint32_t granule, Word seen, State owned) const noexcept {
    return words_[granule].compare_exchange_strong(seen, in_state(seen, owned));
  }
  /// Stores the word, as the owner's last action, and wakes the waiting threads.
  void close(uint32_t granule, Word word) const noexcept;
  /// Waits until the word has changed. seen: the word, which another thread owns.
  void wait(uint32_t granule, Word seen) const noexcept;
  /// Claims a granule in any state except free; waits for other owners. Returns the earlier word, or kFree if the
  /// granule is free.
  Word claim_surely(uint32_t granule, State owned) const noexcept;

  /// Called after an access to a page that is not allocated. Makes the page inaccessible, so that the repeated access
  /// raises SIGSEGV.
  void wall(uint32_t page) noexcept;
  /// Maps anonymous memory where a file was mapped, and watches it before any thread can touch it. Returns 0 or -errno.
  long restore(uint32_t page, uint32_t pages, const UserFault& userfault) noexcept;
  /// Makes the inaccessible pages of a range accessible again, before the range is allocated.
  void open_walls(uint32_t page, uint32_t pages) noexcept;

  static constexpr uint8_t kMoving = 0x80;

 private:
  void divide_arena() const noexcept;
  uint32_t place_ = 0;
  char* base_ = nullptr;
  uint64_t bytes_ = 0;
  std::atomic<Word>* words_ = nullptr;
  std::atomic<uint8_t>* sizes_ = nullptr;
  std::atomic<uint8_t>* advice_ = nullptr;
  std::atomic<int8_t>* protection_ = nullptr;
  std::atomic<int8_t>* neighbours_ = nullptr;
  std::atomic<uint32_t> walls_{0};
};

extern GranuleTable table;

}  // namespace ringside::memory
