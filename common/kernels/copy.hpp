// SPDX-License-Identifier: BSD-3-Clause
// Copies that bypass the cache, and hash in the same pass. The analyzer uses them to copy from the shared buffer into
// the iterate's slot in the ring.
//
// Copying n bytes reads n bytes from memory and writes n bytes to it (a non-temporal store does not read the line
// first). The hash adds no memory traffic: the same pass hashes and stores each line (common/kernels/copy_kernel.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

/// The number of bytes that one call copies and hashes: enough to make the cost of the call negligible, but few enough
/// to locate damage.
inline constexpr std::size_t kCopyChunkBytes = std::size_t{16} << 10;

/// Copies `bytes` (a multiple of 8) from `from` (8-byte aligned) to `to` (64-byte aligned) with non-temporal stores
/// only, so the caller need not flush. There is no fence: the calling thread must drain its stores (sfence) before it
/// announces them to others. Only prefetch hints reach beyond `from + bytes`, so no memory needs to exist there.
void copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept;

/// Copies like copy_nontemporal, and returns `hash64(from, bytes)`. This is fast only if `bytes` is a multiple of 1
/// KiB.
std::uint64_t copy_nontemporal_hashed(void* to, const void* from, std::size_t bytes) noexcept;

/// The same with ordinary stores, so that the bytes stay in the cache: for few bytes that are read again soon. The
/// stores are not flushed.
std::uint64_t copy_cached_hashed(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace ringside
