#include "common/hash.hpp"

#include <sys/random.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fmt/format.h>

namespace ringside {

std::string to_string(const Id128& id) {
  return fmt::format("{:016x}{:016x}", id.high, id.low);
}

std::uint64_t hash64(const void* data, std::size_t bytes, std::uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

Id128 hash128(const void* data, std::size_t bytes, std::uint64_t seed) noexcept {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(data, bytes, seed);
  return {hash.high64, hash.low64};
}

Id128 random_id() {
  Id128 id;
  (void)!getrandom(&id, sizeof(id), 0);
  return id;
}

}  // namespace ringside
