// SPDX-License-Identifier: BSD-3-Clause
// The pages of the arena that a forked child is to find empty: madvise(2) with MADV_WIPEONFORK.
#pragma once

#include <stdint.h>

namespace ringside::memory {

/// false: no memory to remember them.
bool wipe_on_fork(uint32_t page, uint32_t pages) noexcept;
/// MADV_KEEPONFORK, or the pages are given back.
void keep_on_fork(uint32_t page, uint32_t pages) noexcept;
/// In a forked child, once it has its copy of the arena.
void wipe_in_child() noexcept;

}  // namespace ringside::memory
