// Copies past the cache and hashes what is copied.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringside {

/// Copies `bytes` (a multiple of 8; `to` 64-byte aligned) with non-temporal stores; returns `hash64(from, bytes)`. The
/// caller drains.
std::uint64_t copy_nontemporal_hashed(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace ringside
