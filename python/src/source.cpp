// SPDX-License-Identifier: BSD-3-Clause
#include "source.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace ringside_python {
namespace {

/// Like memcpy, for a buffer that is too large to remain in the caches until another core reads it. The stores are
/// non-temporal, so that no line of `to` is read before it is written. memcpy uses such stores only for large blocks,
/// not for many pieces. The prefetches, a page ahead of the loads, shorten the copy: the processor's own
/// prefetcher begins anew with each page. A prefetch beyond the end of `from` has no effect.
void stream(std::byte* to, const std::byte* from, std::size_t bytes) {
#ifdef __SSE2__
  constexpr std::size_t kLine = 64, kPage = 4096;
  if (bytes >= 4 * kLine) {
    const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
    std::memcpy(to, from, head);
    to += head, from += head, bytes -= head;
    for (; bytes >= kLine; to += kLine, from += kLine, bytes -= kLine) {
      _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(from) + kPage), _MM_HINT_NTA);
      const auto* line = reinterpret_cast<const __m128i*>(from);
      auto* out = reinterpret_cast<__m128i*>(to);
      const __m128i a = _mm_loadu_si128(line), b = _mm_loadu_si128(line + 1), c = _mm_loadu_si128(line + 2),
                    d = _mm_loadu_si128(line + 3);
      _mm_stream_si128(out, a);
      _mm_stream_si128(out + 1, b);
      _mm_stream_si128(out + 2, c);
      _mm_stream_si128(out + 3, d);
    }
  }
#endif
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace

void Source::copy_to(void* memory, std::size_t room) const {
  constexpr std::size_t kStreamed = std::size_t{4} << 20;
  auto* to = static_cast<std::byte*>(memory);
  for (const Buffer& piece : pieces) {
    const auto* from = static_cast<const std::byte*>(piece.data());
    if (room >= kStreamed) {
      stream(to, from, piece.bytes());
    } else if (piece.bytes() != 0) {
      std::memcpy(to, from, piece.bytes());
    }
    to += piece.bytes();
  }
#ifdef __SSE2__
  _mm_sfence();  // the copied bytes become visible before the store that publishes
#endif
}

Source source_of(const Variable& variable, PyObject* given) {
  Source source;
  if (!PyList_Check(given)) {
    Object array = as_array(given);
    Buffer buffer = checked_buffer(variable, array.get());
    if (buffer.in_c_order()) {
      source.pieces.push_back(std::move(buffer));
    } else {
      source.array = std::move(array);
    }
    return source;
  }
  const Entries pieces(given);
  std::size_t bytes = 0;
  source.pieces.reserve(pieces.size());
  for (std::size_t p = 0; p < pieces.size(); ++p) bytes += source.pieces.emplace_back(pieces[p], PyBUF_SIMPLE).bytes();
  if (bytes != variable.bytes()) {
    refuse(variable.name + ": found buffers of " + std::to_string(bytes) + " bytes in all; expected " +
           std::to_string(variable.bytes()));
  }
  return source;
}

}  // namespace ringside_python
