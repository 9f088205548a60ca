// SPDX-License-Identifier: BSD-3-Clause
#include "common/kernels/hash.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "common/kernels/hash_kernel.hpp"
#include "common/kernels/isa.hpp"
#include "common/platform/error.hpp"
#include "common/text/formatted.hpp"

namespace ringside {

std::string to_string(const Id128& id) {
  return formatted("{:016x}{:016x}", id.high, id.low);
}

std::uint64_t hash64(const void* data, std::size_t bytes, std::uint64_t seed) noexcept {
  static const auto kernel = select<Hash64Function>(plain::hash64, avx2::hash64, avx512::hash64);
  return kernel(data, bytes, seed);
}

Id128 hash128(const void* data, std::size_t bytes, std::uint64_t seed) noexcept {
  static const auto kernel = select<Hash128Function>(plain::hash128, avx2::hash128, avx512::hash128);
  std::uint64_t high_low[2];
  kernel(data, bytes, seed, high_low);
  return {high_low[0], high_low[1]};
}

Id128 hash128_parallel(const void* data, std::size_t bytes, std::uint64_t seed) {
  constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  const auto* begin = static_cast<const unsigned char*>(data);
  std::vector<Id128> pieces((bytes + kPieceBytes - 1) / kPieceBytes);
#pragma omp parallel for schedule(static)
  for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
    const std::size_t offset = piece * kPieceBytes;
    pieces[piece] = hash128(begin + offset, std::min(kPieceBytes, bytes - offset), seed);
  }
  return hash128(pieces.data(), pieces.size() * sizeof(Id128), seed);
}

Id128 random_id() {
  Id128 id;
  // The kernel returns up to 256 bytes completely or not at all. A signal can interrupt the call only shortly after
  // boot, while the kernel still gathers randomness.
  while (getrandom(&id, sizeof id, 0) != static_cast<ssize_t>(sizeof id)) {
    if (errno != EINTR) throw system_error("cannot get random bytes from the kernel: getrandom: {}", errno_text(errno));
  }
  return id;
}

}  // namespace ringside
