// Copies past the cache, hashing on the way: how an iterate gets from the shared buffer into its ring slot.
//
// Bytes that must move for n copied: n read, n written (a non-temporal store does not read the line first). The hash
// adds no traffic: each line is taken into the hash and stored in the same pass (common/kernels/copy_kernel.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

/// What one call copies and hashes: large enough for calls to cost nothing, small enough to say well where damage is.
inline constexpr std::size_t kCopyChunkBytes = std::size_t{16} << 10;

/// Copies `bytes` (a multiple of 8) from `from` (8-byte aligned) to `to` (64-byte aligned) with non-temporal stores
/// only, so nothing is left to flush. There is no fence: the calling thread drains its own stores (sfence) before it
/// tells anyone of them. Reads ahead of `from + bytes`, by hints only: what is there need not exist.
void copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept;

/// The same, and returns `hash64(from, bytes)`. Fast where `bytes` is a multiple of 1 KiB.
std::uint64_t copy_nontemporal_hashed(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace ringside
