// SPDX-License-Identifier: BSD-3-Clause
// Which addresses of the arena this library's own malloc returned. Another malloc may have its memory in the arena too,
// by mmap, and what it returns there is its own: an address alone does not say who frees it. A bit for each page.
#pragma once

#include <stdint.h>

namespace ringside::memory {

/// `memory` is the start of an allocation of ours from now on. Called behind the gate. false: there is no memory for
/// the bits.
bool add_large_block(const void* memory) noexcept;
void remove_large_block(const void* memory) noexcept;
bool is_large_block(const void* memory) noexcept;

}  // namespace ringside::memory
