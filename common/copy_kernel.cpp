#include "common/copy_kernel.hpp"

#include <immintrin.h>

#include "common/hash_kernel.hpp"

namespace ringside::RINGSIDE_ISA {
namespace {

constexpr std::size_t kLineBytes = 64;

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

/// Copies, and fetches what lies `ahead_bytes` further on.
void copy_reading_ahead(char* to, const char* from, std::size_t bytes, std::size_t ahead_bytes) noexcept {
  const std::size_t whole_lines_bytes = bytes / kLineBytes * kLineBytes;
#pragma GCC unroll 4
  for (std::size_t i = 0; i < whole_lines_bytes; i += kLineBytes) {
    _mm_prefetch(from + ahead_bytes + i, _MM_HINT_T0);
    stream_line(to + i, from + i);
  }
  for (std::size_t i = whole_lines_bytes; i < bytes; i += sizeof(long long)) {
    long long word;
    __builtin_memcpy(&word, from + i, sizeof word);
    _mm_stream_si64(reinterpret_cast<long long*>(to + i), word);
  }
}

}  // namespace

void copy_nontemporal(void* to, const void* from, std::size_t bytes) noexcept {
  const std::size_t ahead_bytes = bytes < kCopyChunkBytes ? bytes : kCopyChunkBytes;
  copy_reading_ahead(static_cast<char*>(to), static_cast<const char*>(from), bytes, ahead_bytes);
}

std::uint64_t copy_nontemporal_hashed(void* to, const void* from, std::size_t bytes) noexcept {
  // Hashing first brings the source into the cache; the stores then drain while the next chunk is hashed.
  const std::uint64_t hash = hash64(from, bytes, 0);
  copy_reading_ahead(static_cast<char*>(to), static_cast<const char*>(from), bytes, bytes);
  return hash;
}

}  // namespace ringside::RINGSIDE_ISA
