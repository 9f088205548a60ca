// SPDX-License-Identifier: BSD-3-Clause
// For every length that callers may pass, the copy must be exact, change no other byte, and return the hash of the
// copied bytes.
#include "common/kernels/copy.hpp"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <string>
#include <vector>

#include "common/kernels/copy_kernel.hpp"
#include "common/kernels/hash.hpp"
#include "common/kernels/isa.hpp"

namespace ringside {
namespace {

struct CopyVariant {
  const char* name;
  CopyFunction* copy;
  HashedCopyFunction* hashed_copy;
  HashedCopyFunction* cached_copy;
};

std::vector<CopyVariant> copies_this_processor_runs() {
  std::vector<CopyVariant> variants{
      {"chosen", copy_nontemporal, copy_nontemporal_hashed, copy_cached_hashed},
      {"plain", plain::copy_nontemporal, plain::copy_nontemporal_hashed, plain::copy_cached_hashed}};
  if (selected_isa() >= Isa::kAvx2) {
    variants.push_back({"avx2", avx2::copy_nontemporal, avx2::copy_nontemporal_hashed, avx2::copy_cached_hashed});
  }
  if (selected_isa() >= Isa::kAvx512) {
    variants.push_back(
        {"avx512", avx512::copy_nontemporal, avx512::copy_nontemporal_hashed, avx512::copy_cached_hashed});
  }
  return variants;
}

struct alignas(64) CopiedLine {
  unsigned char bytes[64];
};

// Long enough for several chunks. One guard line before the copy and two guard lines after the copy detect a store
// outside the copy.
constexpr std::size_t kMostBytes = 3 * kCopyChunkBytes + 4096;
constexpr unsigned char kGuard = 0xA5;

class Copy : public ::testing::Test {
 protected:
  Copy() : to_lines_(kMostBytes / 64 + 3), from_lines_(kMostBytes / 64 + 1) {
    std::uint64_t state = 1;
    for (CopiedLine& line : from_lines_) {
      for (unsigned char& byte : line.bytes) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        byte = static_cast<unsigned char>(state >> 56);
      }
    }
  }

  unsigned char* to() { return to_lines_[1].bytes; }
  const unsigned char* from(std::size_t offset_bytes) const {
    return reinterpret_cast<const unsigned char*>(from_lines_.data()) + offset_bytes;
  }
  void guard() {
    to_lines_.assign(to_lines_.size(), [] {
      CopiedLine line;
      for (unsigned char& byte : line.bytes) byte = kGuard;
      return line;
    }());
  }

  void expect_exact(std::size_t bytes, std::size_t from_offset_bytes) {
    const unsigned char* whole = to_lines_[0].bytes;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < to_lines_.size() * 64; ++i) {
      const bool inside = i >= 64 && i < 64 + bytes;
      if (whole[i] != (inside ? from(from_offset_bytes)[i - 64] : kGuard)) ++wrong;
    }
    EXPECT_EQ(wrong, 0U);
  }

 private:
  std::vector<CopiedLine> to_lines_;
  std::vector<CopiedLine> from_lines_;
};

std::vector<std::size_t> lengths() {
  std::vector<std::size_t> all = {0,   8,    16,   56,   64,   72,   120,  128,  192,  256,
                                  264, 1000, 1016, 1024, 1032, 2048, 3072, 4096, 4104, 8184};
  all.insert(all.end(), {kCopyChunkBytes - 8, kCopyChunkBytes, kCopyChunkBytes + 8, 3 * kCopyChunkBytes + 40});
  return all;
}

TEST_F(Copy, IsExactTouchesNothingBesideItAndIfHashedReturnsTheHashOfTheSource) {
  for (const CopyVariant& variant : copies_this_processor_runs()) {
    for (std::size_t bytes : lengths()) {
      for (std::size_t from_offset_bytes : {std::size_t{0}, std::size_t{8}, std::size_t{40}}) {
        SCOPED_TRACE(std::string(variant.name) + ", " + std::to_string(bytes) + " bytes");
        guard();
        variant.copy(to(), from(from_offset_bytes), bytes);
        _mm_sfence();
        expect_exact(bytes, from_offset_bytes);
        for (HashedCopyFunction* copy : {variant.hashed_copy, variant.cached_copy}) {
          guard();
          const std::uint64_t hash = copy(to(), from(from_offset_bytes), bytes);
          _mm_sfence();
          EXPECT_EQ(hash, hash64(from(from_offset_bytes), bytes));
          EXPECT_EQ(hash, hash64(to(), bytes));
          expect_exact(bytes, from_offset_bytes);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringside
