// SPDX-License-Identifier: BSD-3-Clause
// XXH_INLINE_ALL: the packaged library is compiled for plain x86-64 and is half as fast as the functions inlined here
// with AVX2. The macro also makes every xxHash function static, so that the variants do not collide at link time.
#define XXH_INLINE_ALL
#include "common/kernels/hash_kernel.hpp"

// gcc 12 warns about its own AVX-512 intrinsics, which begin from a deliberately undefined register (gcc bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <xxhash.h>

namespace ringside::RINGSIDE_ISA {

std::uint64_t hash64(const void* data, std::size_t bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

void hash128(const void* data, std::size_t bytes, std::uint64_t seed, std::uint64_t* high_low) noexcept {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(data, bytes, seed);
  high_low[0] = hash.high64;
  high_low[1] = hash.low64;
}

}  // namespace ringside::RINGSIDE_ISA
