// SPDX-License-Identifier: BSD-3-Clause
// Work on parts of a region, which munmap(2), madvise(2) and fork(2) need in addition to allocation. Only for regions
// with granules of a page; a preloaded program has no others.
#pragma once

#include <stdint.h>

#include "memory/arena/regions.hpp"

namespace ringside::memory {

/// The region that holds an address of the arena; an empty one if it is not allocated.
Region region_of(const void* address) noexcept;
/// Whether a page is allocated: parts of a region may have been released.
bool is_allocated(uint32_t page) noexcept;

/// Resizes a region at its address. false: the addresses behind it are taken, or far memory is full (`full`).
bool resize_in_place(Region region, uint64_t bytes, bool* full) noexcept;
/// Releases pages of a region. Its addresses are reused once all of its pages are released. No thread may use the pages
/// meanwhile.
void release_pages(const Region& region, uint32_t page, uint32_t pages) noexcept;
/// Allocated pages of the range read as zeros afterwards. Their far memory stays reserved.
void clear_pages(uint32_t page, uint32_t pages) noexcept;

/// Creates an unnamed file in `folder` with the content of all allocations. Other threads may load and store meanwhile,
/// but not allocate. Returns the descriptor or -errno. `bytes`: how many were copied.
long write_copy(const char* folder, uint64_t* bytes) noexcept;
/// In a forked child: its own arena at the same addresses, with the content of `copy` (write_copy) and the same limits.
/// 0 or -1 with the failure kept.
int adopt_copy(int copy, bool signals, bool copy_only) noexcept;
/// In a forked child without a copy: every access to the arena ends the process with one line.
void adopt_nothing(bool signals) noexcept;

}  // namespace ringside::memory
