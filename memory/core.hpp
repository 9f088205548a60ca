// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the interface share: whether the arena is started, the operations on the granules of a range, and
// the additional functions for munmap(2), madvise(2) and fork(2).
#pragma once

#include <stdint.h>

#include <atomic>

#include "memory/arena/regions.hpp"
#include "memory/arena/userfault.hpp"

namespace ringside::memory {

struct Core {
  UserFault userfault;
  uint32_t granule_kind = 0;
  uint64_t far_limit = 0;
  std::atomic<uint64_t> far_bytes{0}, far_peak_bytes{0};
  /// It is in memory that fork(2) wipes, because a child has no arena.
  std::atomic<uint32_t>* started = nullptr;

  bool ready() const noexcept { return started != nullptr && started->load(std::memory_order_acquire) != 0; }
};

extern Core core;

/// Returns 0. Before start, returns -1 and records the failure "FUNCTION: the arena is not started".
int need_start(const char* function) noexcept;

enum class Expel { kForget, kClear, kKeep };
/// Takes a range of granules out of DRAM. With kForget, their words become free. With kClear, they read as zeros
/// afterwards. With kKeep, pinned granules stay in DRAM, and the result is false if there are any.
bool expel(uint32_t page, uint32_t pages, uint32_t kind, Expel how) noexcept;
/// Writes the changed granules of a range to far memory; the granules stay in DRAM.
void write_back(uint32_t page, uint32_t pages, uint32_t kind) noexcept;

// --- parts of a region whose granules are single pages; with the preload library, a program has only such regions

/// The region that holds an address of the arena; an empty region if the address is not allocated.
Region region_of(const void* address) noexcept;
/// Whether a page is allocated: parts of a region may have been released.
bool is_allocated(uint32_t page) noexcept;

/// Resizes a region at its address. Returns false if the next addresses are taken, or if far memory is full (then
/// `full` becomes true).
bool resize_in_place(Region region, uint64_t bytes, bool* full) noexcept;
/// Releases pages of a region. The region's addresses are reused once all of its pages are released. No thread may use
/// the pages during this call.
void release_pages(const Region& region, uint32_t page, uint32_t pages) noexcept;
/// Clears the allocated pages of the range: they read as zeros afterwards. Their far memory stays reserved.
void clear_pages(uint32_t page, uint32_t pages) noexcept;
/// Whether an advice of madvise(2) leaves the content of memory unchanged. In the arena, such advice may be ignored.
bool is_only_advice(int advice) noexcept;

/// Creates an unnamed file in `folder` with the content of all allocations. During this call, other threads may load
/// and store, but must not allocate. Returns the descriptor or -errno. `bytes` becomes the number of bytes copied.
long write_copy(const char* folder, uint64_t* bytes) noexcept;
/// Called in a forked child: starts the child's own arena at the same addresses, with the content of `copy` (made by
/// write_copy) and the same limits. Returns 0, or -1 after recording the failure.
int adopt_copy(int copy, bool signals, bool copy_only) noexcept;
/// Called in a forked child without a copy: from now on, every access to the arena ends the process with one line.
void adopt_nothing(bool signals) noexcept;

}  // namespace ringside::memory
