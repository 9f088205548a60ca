// SPDX-License-Identifier: BSD-3-Clause
// Records the addresses of the arena that this library's malloc returned: a bit for each page. Another malloc may map
// its memory in the arena, too, and frees its blocks itself: an address alone does not show which malloc must free it.
#pragma once

#include <stdint.h>

namespace ringside::memory {

/// Records `memory` as the start of one of this library's allocations. Call it behind the gate. false: there is no
/// memory for the bits.
bool add_large_block(const void* memory) noexcept;
void remove_large_block(const void* memory) noexcept;
bool is_large_block(const void* memory) noexcept;

}  // namespace ringside::memory
