// SPDX-License-Identifier: BSD-3-Clause
// What munmap(2), madvise(2) and fork(2) need beyond allocation: parts of a region. For regions with granules of a
// page, which all of a preloaded program's are.
#pragma once

#include <stdint.h>

#include "memory/arena/regions.hpp"

namespace ringside::memory {

/// The region that holds an address of the arena; an empty one if it is not allocated.
Region region_of(const void* address) noexcept;
/// Whether a page is allocated: parts of a region may have been released.
bool is_allocated(uint32_t page) noexcept;

/// Makes a region longer or shorter where it is. false: the addresses behind it are taken, or far memory is full.
bool resize_in_place(Region region, uint64_t bytes, bool* full) noexcept;
/// Gives pages of a region back; its addresses are used again once all of its pages were given back. No one may use
/// them meanwhile.
void release_pages(const Region& region, uint32_t page, uint32_t pages) noexcept;
/// Allocated pages of the range read as zeros from now on. Their far memory stays reserved.
void clear_pages(uint32_t page, uint32_t pages) noexcept;

/// An unnamed file in `folder` with the content of all that is allocated; other threads may load and store meanwhile,
/// but not allocate. The descriptor or -errno. `bytes`: of what was copied.
long write_copy(const char* folder, uint64_t* bytes) noexcept;
/// In a forked child: its own arena at the same addresses, with the content of `copy` (write_copy) and the same limits.
/// 0 or -1 with the failure kept.
int adopt_copy(int copy, bool signals, bool copy_only) noexcept;
/// In a forked child without a copy: every touch of the arena ends the process with one line.
void adopt_nothing(bool signals) noexcept;

}  // namespace ringside::memory
