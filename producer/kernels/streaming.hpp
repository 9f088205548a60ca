// SPDX-License-Identifier: BSD-3-Clause
// When a solver's vectors are written with stores that bypass the caches.
#pragma once

#include <cstdint>

namespace ringside {

/// Whether `vectors` vectors of doubles, which an iteration uses, exceed the last-level cache. If they do, an
/// iteration's values have left the cache by the next iteration, and non-temporal stores avoid that each cache line is
/// read before it is written.
constexpr bool exceed_cache(std::uint64_t rows, std::uint64_t vectors) noexcept {
  // One core can use only one slice of a last-level cache, which has 32 MiB on common servers. The system does not
  // report it: glibc reports the sum of all slices of a processor, even to a virtual machine that has only a part of
  // them.
  constexpr std::uint64_t kCacheBytes = std::uint64_t{32} << 20;
  return vectors * rows * sizeof(double) > kCacheBytes;
}

/// Whether non-temporal stores of whole cache lines to this address are possible.
inline bool begins_line(const void* address) noexcept {
  constexpr std::uintptr_t kLineBytes = 64;
  return reinterpret_cast<std::uintptr_t>(address) % kLineBytes == 0;
}

}  // namespace ringside
