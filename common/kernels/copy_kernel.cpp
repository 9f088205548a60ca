// SPDX-License-Identifier: BSD-3-Clause
// The hashed copy stores each line right after hashing it (common/kernels/line_hash.hpp): one pass, in which the
// processor hashes while it waits for memory. Measurements show that XXH3's public functions are slower: hashing each
// chunk before copying it takes up to 1.5 times as long (bench/protocol_cost), and the streaming interface, block by
// block, 1.33 times as long.
#include "common/kernels/copy_kernel.hpp"

#include <immintrin.h>

#include "common/kernels/hash_kernel.hpp"
#include "common/kernels/line_hash.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

/// Stores one cache line in as few stores as the instruction set allows, so that a whole line becomes one memory write.
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

void cache_line(char* to, const char* from) noexcept {
  __builtin_memcpy(to, from, kLineBytes);
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

/// bytes: the size of one or more whole blocks of the hash.
template <bool kStream>
std::uint64_t copy_blocks_hashed(char* to, const char* from, std::size_t bytes) noexcept {
  LineHash hash;
  for (std::size_t block = 0; block < bytes; block += kHashBlockBytes) {
    const bool is_last = block + kHashBlockBytes == bytes;
    for (std::size_t place = 0; place < kHashBlockLines; ++place) {
      const std::size_t at = block + place * kLineBytes;
      _mm_prefetch(from + at + kAheadBytes, _MM_HINT_T0);
      if (is_last && place + 1 == kHashBlockLines) {
        hash.take_last(from + at);
      } else {
        hash.take(from + at, place);
      }
      kStream ? stream_line(to + at, from + at) : cache_line(to + at, from + at);
    }
    if (!is_last) hash.end_block();
  }
  return hash.value(bytes);
}

}  // namespace

void copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept {
  copy_reading_ahead(static_cast<char*>(to), static_cast<const char*>(from), bytes);
}

std::uint64_t copy_nontemporal_hashed(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes > 0 && bytes % kHashBlockBytes == 0) {
    return copy_blocks_hashed<true>(static_cast<char*>(to), static_cast<const char*>(from), bytes);
  }
  // This is the rest of an iterate, or a very short range. Hashing it first brings it into the cache.
  const std::uint64_t hash = hash64(from, bytes, 0);
  copy_reading_ahead(static_cast<char*>(to), static_cast<const char*>(from), bytes);
  return hash;
}

std::uint64_t copy_cached_hashed(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes > 0 && bytes % kHashBlockBytes == 0) {
    return copy_blocks_hashed<false>(static_cast<char*>(to), static_cast<const char*>(from), bytes);
  }
  const std::uint64_t hash = hash64(from, bytes, 0);
  __builtin_memcpy(to, from, bytes);
  return hash;
}

}  // namespace ringside::RINGSIDE_ISA
