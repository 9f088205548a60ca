// SPDX-License-Identifier: BSD-3-Clause
// Two sets of pages of the arena. The first set has the pages that the program has locked (with mlock, or because they
// are a stack in the arena). Each of these pages has one pin, however often it was locked. The second set has the pages
// that must be zero in a forked child (after madvise(2) with MADV_WIPEONFORK).
#pragma once

#include <stdint.h>

namespace ringside::memory {

/// Returns false if the limit leaves no space. As with mlock(2), some pages may then be locked.
bool lock_pages(uint32_t page, uint32_t pages) noexcept;
void unlock_pages(uint32_t page, uint32_t pages) noexcept;
/// Whether any of the pages is locked.
bool are_locked(uint32_t page, uint32_t pages) noexcept;
/// For a forked child, which inherits no locks.
void forget_locks() noexcept;

/// Returns false if there is no memory for the record.
bool wipe_on_fork(uint32_t page, uint32_t pages) noexcept;
/// Removes pages from the second set, for MADV_KEEPONFORK or because they are released.
void keep_on_fork(uint32_t page, uint32_t pages) noexcept;
/// Clears the pages of the second set in a forked child, once the child has its copy of the arena.
void wipe_in_child() noexcept;

}  // namespace ringside::memory
