// XXH3, inlined so that the compiler can specialise it.
#define XXH_INLINE_ALL
#include "common/hash.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <xxhash.h>

#include <algorithm>
#include <vector>

#include "common/error.hpp"

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

Id128 hash128_parallel(const void* data, std::size_t bytes, std::uint64_t seed) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  const std::size_t pieces = (bytes + kPieceBytes - 1) / kPieceBytes;
  std::vector<Id128> hashes(pieces);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t begin = i * kPieceBytes;
    hashes[i] = hash128(static_cast<const char*>(data) + begin, std::min(kPieceBytes, bytes - begin), seed);
  }
  return hash128(hashes.data(), hashes.size() * sizeof(Id128), seed);
}

Id128 random_id() {
  Id128 id;
  if (getrandom(&id, sizeof id, 0) != sizeof id) throw system_error("the kernel gives no random numbers");
  return id;
}

}  // namespace ringside
