// SPDX-License-Identifier: BSD-3-Clause
// Far memory that is read and written in place. The addresses of a region are a mapping of the far file, so loads and
// stores cost what far memory costs, and cause no faults in the library. A chunk (64 KiB or more) that is touched often
// is promoted: it is copied into a frame of DRAM, which is then mapped at the chunk's addresses. Only mmap(2) and
// mprotect(2) are used, because userfaultfd(2) does not support files on DAX.
//
// A chunk is read-only while it is copied. A store to it then raises SIGSEGV, and the thread waits until the chunk is
// copied. HeMem (Raybuck et al., SOSP 2021) also samples accesses and migrates in the background. It samples with the
// processor's counters; this code uses the kernel's page tables, which need no permission.
#pragma once

#include <stdint.h>

#include <atomic>

#include "memory/arena/geometry.hpp"
#include "memory/core.hpp"
#include "memory/ringside_memory.h"
#include "memory/system/raw.hpp"

namespace ringside::memory {

/// Whether regions are in place, and the reason.
using Placement = ringside_memory_placement;
const char* reason(Placement placement) noexcept;

class InPlace {
 public:
  /// `limit`: the DRAM limit; `most_dram`: its possible maximum. Returns 0 or -errno.
  long start(uint32_t asked, uint64_t limit, uint64_t most_dram) noexcept;
  /// Also called in a forked child, whose regions are all cached.
  void stop() noexcept;

  Placement placement() const noexcept { return placement_; }
  bool possible() const noexcept { return placement_ >= RINGSIDE_MEMORY_IN_PLACE_ON_DAX; }
  /// Whether the addresses of a new region become far memory itself.
  bool wanted(uint64_t bytes) const noexcept;
  /// Whether the piece that holds a page is in place.
  bool holds(uint32_t page) const noexcept {
    return possible() && pieces_[page / kPagesPerPiece].load(std::memory_order_relaxed) != 0;
  }

  /// Maps far memory at new pages, or at pages whose words the caller owns (and gives up by this call). Returns 0 or
  /// -errno.
  long map(uint32_t page, uint32_t pages) noexcept;
  /// Takes a range of words out of in-place use: see expel of core.hpp. Returns false if some pages are pinned.
  bool expel(uint32_t page, uint32_t pages, Expel how) noexcept;
  /// Makes a whole region cached and keeps its content. Returns false if a part is pinned, or if the kernel has no
  /// mapping left.
  bool cache(uint32_t page, uint32_t pages) noexcept;
  /// Writes promoted chunks that changed to far memory; the chunks stay promoted.
  void write_back(uint32_t page, uint32_t pages) noexcept;
  /// For a fault of an access that the mapping should permit: whether a copy of the chunk explains the fault. Waits
  /// until the copy ends. Returns false if the mapping has not changed since this thread's last fault there; then the
  /// program itself caused the fault.
  bool explains(uint32_t page) noexcept;

  /// Limits the DRAM of promoted chunks to `bytes`. Returns false if pins prevent this.
  bool shrink(uint64_t bytes) noexcept;

  // Called by the sampling.
  /// Whether chunks may move. They must not move if a system call, or a device that a call started, may store into them
  /// without a pin.
  static bool may_move() noexcept;
  uint32_t chunk_shift() const noexcept { return shift_; }  // pages of a chunk, as a power of two
  uint32_t pages_per_chunk() const noexcept { return 1u << shift_; }
  uint64_t chunk_bytes() const noexcept { return kPage << shift_; }
  bool promoted(uint32_t chunk) const noexcept { return chunks_[chunk].frame.load(std::memory_order_relaxed) != 0; }
  /// The last eight samples of a chunk, the newest in bit 0.
  std::atomic<uint8_t>& history(uint32_t chunk) noexcept { return chunks_[chunk].history; }
  /// promote and demote return false if a page of the chunk is pinned, freed or owned, or if no DRAM or no mapping is
  /// left.
  bool promote(uint32_t chunk) noexcept;
  bool demote(uint32_t chunk) noexcept;
  /// Whether another chunk may be promoted.
  bool has_room() const noexcept;
  bool over_share() const noexcept { return promoted_bytes.load() > share(); }
  /// Removes the page table entries of a piece but keeps its content. Returns false if the piece is not in place.
  bool forget_touches(uint32_t piece) noexcept;

  std::atomic<uint64_t> bytes{0}, promoted_bytes{0}, promotions{0}, demotions{0}, sampled{0}, touched{0};

 private:
  struct Chunk {
    std::atomic<uint32_t> frame{0};       // 1 + the number of its frame; 0: in place
    std::atomic<uint16_t> generation{0};  // counts the changes of its mapping
    std::atomic<uint8_t> history{0};
  };
  /// Takes all words of a chunk, or none. Returns false unless every page is in place and has no pins.
  bool own(uint32_t chunk) noexcept;
  /// Does the same as own, but waits for other owners, and leaves out pages that are not allocated. Returns false if
  /// the chunk is no longer in place.
  bool own_surely(uint32_t chunk, bool* pinned) noexcept;
  bool own_unpinned(uint32_t chunk) noexcept;
  void disown(uint32_t chunk) noexcept;
  void disown_page(uint32_t page) noexcept;
  /// Changes the access to an owned chunk. Returns false, and changes nothing, if the kernel has no mapping left.
  bool protect(uint32_t chunk, int protection) noexcept;
  void copy_back(uint32_t chunk) noexcept;
  bool back_to_far(uint32_t chunk) noexcept;
  void forget(uint32_t page, uint32_t pages) noexcept;
  void give_back(uint32_t page, uint32_t pages, State state) noexcept;
  /// The DRAM limit for promoted chunks: cached granules keep their part, and an eighth stays free for faults.
  uint64_t share() const noexcept;
  bool take_frame(uint32_t* frame) noexcept;
  void give_frame(uint32_t frame) noexcept;
  char* address(uint32_t chunk) const noexcept;
  uint64_t offset(uint32_t chunk) const noexcept { return static_cast<uint64_t>(chunk) << (shift_ + kPageShift); }

  Placement placement_ = RINGSIDE_MEMORY_CACHED_AS_ASKED;
  uint32_t shift_ = 4;
  int frames_file_ = -1;  // a memfd, which is the DRAM for promoted chunks
  uint64_t most_frames_ = 0;
  Chunk* chunks_ = nullptr;
  std::atomic<uint8_t>* pieces_ = nullptr;
  Lock lock_;  // protects the empty frames
  uint32_t* empty_ = nullptr;
  uint32_t empties_ = 0, frames_made_ = 0;
  // Held during the system calls that free a piece and during those that remove its page table entries, so that these
  // calls exclude each other.
  Lock sampling_lock_;
  static constexpr uint32_t kSeen = 256;
  std::atomic<uint64_t> seen_[kSeen];  // for each thread: the page of its last fault, and the generation of its chunk
};

extern InPlace in_place;

}  // namespace ringside::memory
