#include "common/copy_kernel.hpp"

#include <emmintrin.h>

#include "common/hash.hpp"

namespace ringside {

std::uint64_t copy_nontemporal_hashed(void* to, const void* from, std::size_t bytes) noexcept {
  const auto* source = static_cast<const long long*>(from);
  auto* target = static_cast<long long*>(to);
  const std::uint64_t hash = hash64(from, bytes);
  for (std::size_t i = 0; i < bytes / 8; ++i) _mm_stream_si64(target + i, source[i]);
  return hash;
}

}  // namespace ringside
