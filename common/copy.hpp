// Copies past the cache, hashing on the way: how an iterate gets from the shared buffer into its ring slot.
//
// Bytes that must move for n copied: n read, n written (a non-temporal store does not read the line first). The hash
// adds no traffic as long as the second look at the source finds it in the first-level cache. To keep memory busy while
// a chunk is hashed, the copy of one chunk fetches the next one: with chunks of kCopyChunkBytes, copied in ascending
// order, most of the hashing is hidden; much larger or scattered chunks are still right, but slower (bench/transfer).
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

/// The fastest size for one call: a chunk and its successor fit the first-level cache (32 KiB and more) together.
inline constexpr std::size_t kCopyChunkBytes = std::size_t{16} << 10;

/// Copies `bytes` (a multiple of 8) from `from` (8-byte aligned) to `to` (64-byte aligned) with non-temporal stores
/// only, so nothing is left to flush. There is no fence: the calling thread drains its own stores (sfence) before it
/// tells anyone of them. Reads ahead of `from + bytes`, by hints only: what is there need not exist.
void copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept;

/// The same, and returns `hash64(from, bytes)`.
std::uint64_t copy_nontemporal_hashed(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace ringside
