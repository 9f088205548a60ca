// XXH3 of a chunk, line by line, so that something else can be done with each line while it is in registers. XXH3 takes
// 64 bytes at a time into running sums of as many bytes: this is the library's own loop, made of the library's own
// steps, which it names but does not promise to keep; tests/unit/common/kernels/copy_test holds the values against the
// library's public function. Compiled once per instruction set (cmake/isa_variants.cmake).
#pragma once

#define XXH_INLINE_ALL  // for the steps, and for the instruction set of this variant

// gcc 12 warns of its own AVX-512 intrinsics, which begin from a deliberately undefined register (gcc bug 105593).
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

// How far ahead of the stores the source is fetched: enough to cover the memory's latency; more is not faster.
inline constexpr std::size_t kAheadBytes = 2048;

// The secret, 192 bytes, is used from its beginning, 8 bytes further on with each line, until a line would need more
// than is left (a block); then the sums are scrambled. The very last line has a place of its own.
inline constexpr std::size_t kHashBlockLines = (sizeof(XXH3_kSecret) - kLineBytes) / XXH_SECRET_CONSUME_RATE;
inline constexpr std::size_t kHashBlockBytes = kHashBlockLines * kLineBytes;
static_assert(kHashBlockBytes == 1024 && kCopyChunkBytes % kHashBlockBytes == 0);

/// The hash of whole blocks, at least one: every line in turn, `end_block` after each block but the last, whose last
/// line is taken by `take_last`.
class LineHash {
 public:
  /// place: of the line in its block.
  void take(const void* line, std::size_t place) noexcept {
    XXH3_accumulate_512(sums_, line, XXH3_kSecret + place * XXH_SECRET_CONSUME_RATE);
  }
  void take_last(const void* line) noexcept {
    XXH3_accumulate_512(sums_, line, kLastSecret - XXH_SECRET_LASTACC_START);
  }
  void end_block() noexcept { XXH3_scrambleAcc(sums_, kLastSecret); }

  /// hash64 of all lines, `bytes` bytes together.
  std::uint64_t value(std::size_t bytes) const noexcept {
    return XXH3_mergeAccs(sums_, XXH3_kSecret + XXH_SECRET_MERGEACCS_START, bytes * XXH_PRIME64_1);
  }

 private:
  static constexpr const unsigned char* kLastSecret = XXH3_kSecret + sizeof(XXH3_kSecret) - kLineBytes;

  XXH_ALIGN(XXH_ACC_ALIGN) xxh_u64 sums_[XXH_ACC_NB] = XXH3_INIT_ACC;
};

}  // namespace ringside::RINGSIDE_ISA
