// SPDX-License-Identifier: BSD-3-Clause
#include "tests/crash/hash_faults.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>

#include "common/ring/ring_layout.hpp"

namespace ringside::crash {
namespace {

std::atomic<Hashing> current{Hashing::kWhole};

constexpr std::uint64_t kTheSameNumber = 0x0ff0ff0ff0ff0ff0;

}  // namespace

UseHashing::UseHashing(Hashing hashing) noexcept {
  current = hashing;
}
UseHashing::~UseHashing() {
  current = Hashing::kWhole;
}

// The linker's names for the real ringside::hash64 and for the function that replaces hash64.
std::uint64_t real_hash64(const void* data, std::size_t bytes, std::uint64_t seed) noexcept
    __asm__("__real__ZN8ringside6hash64EPKvmm");
std::uint64_t hash64_in_its_place(const void* data, std::size_t bytes, std::uint64_t seed) noexcept
    __asm__("__wrap__ZN8ringside6hash64EPKvmm");

std::uint64_t hash64_in_its_place(const void* data, std::size_t bytes, std::uint64_t seed) noexcept {
  // The length and the seed identify what is hashed. A line (64 bytes) with a seed is a header. (A table of 8 chunk
  // hashes has the same length, but no ring in which these faults must be detected has 8 chunks.) One or two lines
  // without a seed are a step descriptor with its scalars, or a last chunk of that length, whose hash is then also
  // wrong. A record_seq is one word with a seed. A run's catalogue and the results have at least 256 bytes each.
  const bool header = bytes == kLineBytes && seed != 0;
  const bool step = (bytes == kLineBytes || bytes == 2 * kLineBytes) && seed == 0;
  const bool chunk_hashes = bytes > sizeof(seed) && bytes <= 2 * kLineBytes && bytes != kLineBytes && seed != 0;
  const bool results = bytes == 3 * sizeof(seed) && seed == 0;  // or the last chunk, if it has three words
  const auto without = [&](std::size_t offset) {
    SlotHeader covered;
    std::memcpy(&covered, data, sizeof(covered));
    const std::uint64_t nothing = 0;
    std::memcpy(reinterpret_cast<std::byte*>(&covered) + offset, &nothing, sizeof(nothing));
    return real_hash64(&covered, sizeof(covered), seed);
  };
  switch (current.load(std::memory_order_relaxed)) {
    case Hashing::kWhole: break;
    case Hashing::kOff: return kTheSameNumber;
    case Hashing::kHeaderWithoutSeq:
      if (header) return without(offsetof(SlotHeader, commit_seq));
      break;
    case Hashing::kHeaderWithoutPayloadHash:
      if (header) return without(offsetof(SlotHeader, payload_hash));
      break;
    case Hashing::kPayloadWithoutStep:
      if (step) return kTheSameNumber;
      break;
    case Hashing::kPayloadWithoutFurtherScalars:
      if (step) return real_hash64(data, kLineBytes, seed);
      break;
    case Hashing::kResultsWithoutCatalogue:
      if (results) {
        std::uint64_t identity[3];
        std::memcpy(identity, data, sizeof(identity));
        identity[1] = 0;
        return real_hash64(identity, sizeof(identity), seed);
      }
      break;
    case Hashing::kPayloadWithoutChunks:
      if (chunk_hashes) return seed;
      break;
  }
  return real_hash64(data, bytes, seed);
}

}  // namespace ringside::crash
