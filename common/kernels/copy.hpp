// SPDX-License-Identifier: BSD-3-Clause
// Copies past the cache that hash on the way: they bring an iterate from the shared buffer into its ring slot.
//
// Bytes that must move for n copied: n read, n written (a non-temporal store does not read the line first). The hash
// adds no traffic: the same pass hashes and stores each line (common/kernels/copy_kernel.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

/// The bytes that one call copies and hashes: enough that the call itself costs nothing, few enough to locate damage
/// well.
inline constexpr std::size_t kCopyChunkBytes = std::size_t{16} << 10;

/// Copies `bytes` (a multiple of 8) from `from` (8-byte aligned) to `to` (64-byte aligned) with non-temporal stores
/// only, so nothing is left to flush. There is no fence: the calling thread drains its own stores (sfence) before it
/// announces them. Reads beyond `from + bytes` by prefetch hints only: no memory need exist there.
void copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept;

/// The same, and returns `hash64(from, bytes)`. Fast where `bytes` is a multiple of 1 KiB.
std::uint64_t copy_nontemporal_hashed(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace ringside
