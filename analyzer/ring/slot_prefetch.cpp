// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/ring/slot_prefetch.hpp"

#include <algorithm>

namespace ringside {
namespace {

// At most so many bytes before the chunk hashes. The header, the step and the results of one field take about 2.6 KB.
// More fields need more time for their reductions, so that the further lines matter less.
constexpr std::uint64_t kMetaBytes = 4096;
constexpr std::uint64_t kPayloadBytes = 4 * kLineBytes;  // later lines are loaded by the processor's own prefetcher

void prefetch_lines(const void* from, std::uint64_t bytes) noexcept {
  const auto* first = static_cast<const std::byte*>(from);
  for (std::uint64_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(first + at, 1);  // 1: will be written
}

}  // namespace

void prefetch_slot(const WritableRing& ring, std::uint32_t slot) noexcept {
  const RingGeometry& geometry = ring.geometry();
  prefetch_lines(ring.header(slot), std::min(geometry.chunk_hashes_offset(), kMetaBytes));
  prefetch_lines(ring.chunk_hash_table(slot), std::min(geometry.chunk_count() * sizeof(std::uint64_t), kLineBytes));
  prefetch_lines(ring.payload(slot), std::min(geometry.payload_bytes(), kPayloadBytes));
}

}  // namespace ringside
