// SPDX-License-Identifier: BSD-3-Clause
// XXH3 gives its published values. In addition, the project relies on this property: every variant and every number of
// threads gives the same hash.
#include "common/kernels/hash.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "common/kernels/hash_kernel.hpp"
#include "common/kernels/isa.hpp"

namespace ringside {
namespace {

// The buffer of xxHash's own self-test: the published values are hashes of its beginning.
std::vector<unsigned char> sanity_buffer(std::size_t bytes) {
  std::vector<unsigned char> buffer(bytes);
  std::uint64_t state = 2654435761U;
  for (unsigned char& byte : buffer) {
    byte = static_cast<unsigned char>(state >> 56);
    state *= 11400714785074694797ULL;
  }
  return buffer;
}

struct HashVariant {
  Isa isa;
  Hash64Function* hash64;
  Hash128Function* hash128;
};

std::vector<HashVariant> hashes_this_processor_runs() {
  std::vector<HashVariant> variants{{Isa::kPlain, plain::hash64, plain::hash128}};
  if (selected_isa() >= Isa::kAvx2) variants.push_back({Isa::kAvx2, avx2::hash64, avx2::hash128});
  if (selected_isa() >= Isa::kAvx512) variants.push_back({Isa::kAvx512, avx512::hash64, avx512::hash128});
  return variants;
}

// The values are from the self-test of xxHash 0.8: {length, seed 0}.
TEST(Hash, GivesThePublishedValues) {
  const auto buffer = sanity_buffer(2367);
  EXPECT_EQ(hash64(buffer.data(), 0), 0x2D06800538D394C2U);
  EXPECT_EQ(hash64(buffer.data(), 1), 0xC44BDFF4074EECDBU);
  EXPECT_EQ(hash64(buffer.data(), 6), 0x27B56A84CD2D7325U);
  EXPECT_EQ(hash64(buffer.data(), 12), 0xA713DAF0DFBB77E7U);
  EXPECT_EQ(hash64(buffer.data(), 2048), 0xDD59E2C3A5F038E0U);
  EXPECT_EQ(hash64(buffer.data(), 2367), 0xCB37AEB9E5D361EDU);
  EXPECT_EQ(hash128(buffer.data(), 1), (Id128{0xA6CD5E9392000F6AU, 0xC44BDFF4074EECDBU}));
  EXPECT_EQ(hash128(buffer.data(), 0), (Id128{0x99AA06D3014798D8U, 0x6001C324468D497FU}));
}

TEST(Hash, SeedsGiveThePublishedValues) {
  const auto buffer = sanity_buffer(2367);
  constexpr std::uint64_t kSeed = 11400714785074694797ULL;
  EXPECT_EQ(hash64(buffer.data(), 0, kSeed), 0xA8A6B918B2F0364AU);
  EXPECT_EQ(hash64(buffer.data(), 1, kSeed), 0x032BE332DD766EF8U);
  EXPECT_EQ(hash64(buffer.data(), 2367, kSeed), 0xD2DB3415B942B42AU);
}

TEST(Hash, EveryInstructionSetGivesTheSameValue) {
  const auto buffer = sanity_buffer(70'000);
  const auto variants = hashes_this_processor_runs();
  for (std::size_t bytes : {0U, 1U, 8U, 63U, 64U, 240U, 241U, 1024U, 1025U, 4096U, 65536U, 70'000U}) {
    for (std::uint64_t seed : {0U, 1U, 77U}) {
      std::uint64_t expected128[2];
      plain::hash128(buffer.data(), bytes, seed, expected128);
      const std::uint64_t expected64 = plain::hash64(buffer.data(), bytes, seed);
      EXPECT_EQ(hash64(buffer.data(), bytes, seed), expected64);
      EXPECT_EQ(hash128(buffer.data(), bytes, seed), (Id128{expected128[0], expected128[1]}));
      for (const HashVariant& variant : variants) {
        std::uint64_t found128[2];
        variant.hash128(buffer.data(), bytes, seed, found128);
        EXPECT_EQ(variant.hash64(buffer.data(), bytes, seed), expected64) << to_string(variant.isa) << ' ' << bytes;
        EXPECT_EQ(found128[0], expected128[0]) << to_string(variant.isa) << ' ' << bytes;
        EXPECT_EQ(found128[1], expected128[1]) << to_string(variant.isa) << ' ' << bytes;
      }
    }
  }
}

TEST(Hash, TheParallelHashIsThatOfTheHashesOfTheMebibytesInOrder) {
  constexpr std::size_t kMebibyte = 1 << 20;
  const auto buffer = sanity_buffer(3 * kMebibyte + 12'345);
  for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, kMebibyte, kMebibyte + 1, buffer.size()}) {
    std::vector<Id128> pieces;
    for (std::size_t offset = 0; offset < bytes; offset += kMebibyte) {
      pieces.push_back(hash128(buffer.data() + offset, std::min(kMebibyte, bytes - offset), 5));
    }
    const Id128 expected = hash128(pieces.data(), pieces.size() * sizeof(Id128), 5);
    for (int threads : {1, 2, 3, 5}) {
      omp_set_num_threads(threads);
      EXPECT_EQ(hash128_parallel(buffer.data(), bytes, 5), expected) << bytes << " bytes, " << threads << " threads";
    }
  }
  omp_set_num_threads(omp_get_num_procs());
}

TEST(Hash, TheParallelHashSeesAChangedBitInAnyPiece) {
  auto buffer = sanity_buffer((2 << 20) + 100);
  const Id128 before = hash128_parallel(buffer.data(), buffer.size());
  for (std::size_t at : {std::size_t{0}, (std::size_t{1} << 20) + 7, buffer.size() - 1}) {
    buffer[at] = static_cast<unsigned char>(buffer[at] ^ 1);
    EXPECT_NE(hash128_parallel(buffer.data(), buffer.size()), before) << at;
    buffer[at] = static_cast<unsigned char>(buffer[at] ^ 1);
  }
}

TEST(Id128, IsWrittenAs32HexadecimalDigitsHighHalfFirst) {
  EXPECT_EQ(to_string(Id128{0x0123456789ABCDEFU, 0xFU}), "0123456789abcdef000000000000000f");
}

TEST(Id128, RandomOnesDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(to_string(random_id()));
  EXPECT_EQ(ids.size(), 1000U);
}

}  // namespace
}  // namespace ringside
