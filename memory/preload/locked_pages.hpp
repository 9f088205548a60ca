// SPDX-License-Identifier: BSD-3-Clause
// The pages of the arena that the program locked (mlock, a stack in the arena): pins that do not count. A bit a page.
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

}  // namespace ringside::memory
