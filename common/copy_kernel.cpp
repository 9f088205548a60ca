// XXH3 takes 64 bytes at a time into running sums of as many bytes. The hashed copy stores each such line right after
// it was taken in: one pass, in which the processor hashes while it waits for memory. That is the library's own loop
// with a store in it, made of the library's own steps, which it names but does not promise to keep:
// tests/unit/copy_test holds the values against the library's public function. What the public functions offer was
// measured, too: hashing a chunk before it is copied takes up to half as long again (bench/protocol_cost), and the
// streaming interface, block by block, a third.
#define XXH_INLINE_ALL  // for the steps, and for the instruction set of this variant
#include "common/copy_kernel.hpp"

// gcc 12 warns of its own AVX-512 intrinsics, which begin from a deliberately undefined register (gcc bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>
#include <xxhash.h>

#include "common/hash_kernel.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

constexpr std::size_t kLineBytes = 64;
static_assert(kLineBytes == XXH_STRIPE_LEN);

// How far ahead of the stores the source is fetched: enough to cover the memory's latency; more is not faster.
constexpr std::size_t kAheadBytes = 2048;

/// One cache line, in as few stores as the instruction set has: a line written whole leaves as one memory write.
void stream_line(char* to, const char* from) noexcept {
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif defined(__AVX2__)
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 32));
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to), low);
  _mm256_stream_si256(reinterpret_cast<__m256i*>(to + 32), high);
#else
  for (std::size_t i = 0; i < kLineBytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
#endif
}

void copy_reading_ahead(char* to, const char* from, std::size_t bytes) noexcept {
  const std::size_t whole_lines_bytes = bytes / kLineBytes * kLineBytes;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < whole_lines_bytes; i += kLineBytes) {
    _mm_prefetch(from + i + kAheadBytes, _MM_HINT_T0);
    stream_line(to + i, from + i);
  }
  for (std::size_t i = whole_lines_bytes; i < bytes; i += sizeof(long long)) {
    long long word;
    __builtin_memcpy(&word, from + i, sizeof word);
    _mm_stream_si64(reinterpret_cast<long long*>(to + i), word);
  }
}

// XXH3 of many bytes: the secret, 192 bytes, is used from its beginning, 8 bytes further on with each line, until a
// line would need more than is left (a block); then the sums are scrambled. The very last line has a place of its own.
constexpr std::size_t kSecretBytes = sizeof(XXH3_kSecret);
constexpr std::size_t kBlockLines = (kSecretBytes - kLineBytes) / XXH_SECRET_CONSUME_RATE;
constexpr std::size_t kBlockBytes = kBlockLines * kLineBytes;
static_assert(kBlockBytes == 1024 && kCopyChunkBytes % kBlockBytes == 0);
const unsigned char* const kScrambleSecret = XXH3_kSecret + kSecretBytes - kLineBytes;
const unsigned char* const kLastLineSecret = kScrambleSecret - XXH_SECRET_LASTACC_START;

/// bytes: whole blocks, at least one.
std::uint64_t copy_blocks_hashed(char* to, const char* from, std::size_t bytes) noexcept {
  XXH_ALIGN(XXH_ACC_ALIGN) xxh_u64 sums[XXH_ACC_NB] = XXH3_INIT_ACC;
  const auto take_and_store = [&](std::size_t offset, const unsigned char* secret) {
    _mm_prefetch(from + offset + kAheadBytes, _MM_HINT_T0);
    XXH3_accumulate_512(sums, from + offset, secret);
    stream_line(to + offset, from + offset);
  };
  for (std::size_t block = 0; block < bytes; block += kBlockBytes) {
    const bool is_last = block + kBlockBytes == bytes;
    for (std::size_t line = 0; line < kBlockLines - 1; ++line) {
      take_and_store(block + line * kLineBytes, XXH3_kSecret + line * XXH_SECRET_CONSUME_RATE);
    }
    take_and_store(block + (kBlockLines - 1) * kLineBytes,
                   is_last ? kLastLineSecret : XXH3_kSecret + (kBlockLines - 1) * XXH_SECRET_CONSUME_RATE);
    if (!is_last) XXH3_scrambleAcc(sums, kScrambleSecret);
  }
  return XXH3_mergeAccs(sums, XXH3_kSecret + XXH_SECRET_MERGEACCS_START, bytes * XXH_PRIME64_1);
}

}  // namespace

void copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept {
  copy_reading_ahead(static_cast<char*>(to), static_cast<const char*>(from), bytes);
}

std::uint64_t copy_nontemporal_hashed(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes > 0 && bytes % kBlockBytes == 0) {
    return copy_blocks_hashed(static_cast<char*>(to), static_cast<const char*>(from), bytes);
  }
  // The end of an iterate, or next to nothing: hashed first, which brings it into the cache.
  const std::uint64_t hash = hash64(from, bytes, 0);
  copy_reading_ahead(static_cast<char*>(to), static_cast<const char*>(from), bytes);
  return hash;
}

}  // namespace ringside::RINGSIDE_ISA
