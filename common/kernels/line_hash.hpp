// SPDX-License-Identifier: BSD-3-Clause
// Computes XXH3 of a chunk line by line, so that other computations can use each line while it is in registers. XXH3
// adds 64 bytes at a time to running sums of the same size. This file repeats the library's loop with its internal
// functions. These functions may change between versions of the library, so tests/unit/common/kernels/copy_test
// compares the result with the result of the public function. Compiled once per instruction set
// (cmake/isa_variants.cmake).
#pragma once

#define XXH_INLINE_ALL  // makes the internal functions available, for the instruction set of this variant

// gcc 12 warns about its own AVX-512 intrinsics, which begin from a deliberately undefined register (gcc bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>
#include <xxhash.h>

#include <cstddef>
#include <cstdint>

#include "common/kernels/copy.hpp"

namespace ringside::RINGSIDE_ISA {

inline constexpr std::size_t kLineBytes = 64;
static_assert(kLineBytes == XXH_STRIPE_LEN);

// The prefetch distance ahead of the stores: enough to cover the memory's latency; a longer distance is not faster.
inline constexpr std::size_t kAheadBytes = 2048;

// Each line of a block is combined with 64 of the 192 bytes of the secret; for the next line, these 64 bytes begin 8
// bytes later. A block ends when the end of the secret is reached; then the sums are scrambled. The last line of the
// last block uses a different place in the secret.
inline constexpr std::size_t kHashBlockLines = (sizeof(XXH3_kSecret) - kLineBytes) / XXH_SECRET_CONSUME_RATE;
inline constexpr std::size_t kHashBlockBytes = kHashBlockLines * kLineBytes;
static_assert(kHashBlockBytes == 1024 && kCopyChunkBytes % kHashBlockBytes == 0);

/// The hash of one or more whole blocks. Call `take` for every line in order, `end_block` after each block but the
/// last, and `take_last` instead of `take` for the last line of the last block.
class LineHash {
 public:
  /// place: the index of the line in its block.
  void take(const void* line, std::size_t place) noexcept {
    XXH3_accumulate_512(sums_, line, XXH3_kSecret + place * XXH_SECRET_CONSUME_RATE);
  }
  void take_last(const void* line) noexcept {
    XXH3_accumulate_512(sums_, line, kLastSecret - XXH_SECRET_LASTACC_START);
  }
  void end_block() noexcept { XXH3_scrambleAcc(sums_, kLastSecret); }

  /// The value of hash64 for all lines, which have `bytes` bytes together.
  std::uint64_t value(std::size_t bytes) const noexcept {
    return XXH3_mergeAccs(sums_, XXH3_kSecret + XXH_SECRET_MERGEACCS_START, bytes * XXH_PRIME64_1);
  }

 private:
  static constexpr const unsigned char* kLastSecret = XXH3_kSecret + sizeof(XXH3_kSecret) - kLineBytes;

  XXH_ALIGN(XXH_ACC_ALIGN) xxh_u64 sums_[XXH_ACC_NB] = XXH3_INIT_ACC;
};

}  // namespace ringside::RINGSIDE_ISA
