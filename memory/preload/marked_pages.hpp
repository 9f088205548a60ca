// SPDX-License-Identifier: BSD-3-Clause
// The pages of the arena that the program locked (mlock, a stack in the arena): pins that do not count. And those that
// are to be zero in a forked child: madvise(2) with MADV_WIPEONFORK.
#pragma once

#include <stdint.h>

namespace ringside::memory {

/// false: the limit leaves no space; as with mlock(2), some pages may then be locked.
bool lock_pages(uint32_t page, uint32_t pages) noexcept;
void unlock_pages(uint32_t page, uint32_t pages) noexcept;
/// Whether any of the pages is locked.
bool are_locked(uint32_t page, uint32_t pages) noexcept;
/// In a forked child, where no lock is inherited.
void forget_locks() noexcept;

/// false: there is no memory for the record.
bool wipe_on_fork(uint32_t page, uint32_t pages) noexcept;
/// For MADV_KEEPONFORK, or pages that are released.
void keep_on_fork(uint32_t page, uint32_t pages) noexcept;
/// In a forked child, once it has its copy of the arena.
void wipe_in_child() noexcept;

}  // namespace ringside::memory
