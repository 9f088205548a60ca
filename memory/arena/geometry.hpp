// SPDX-License-Identifier: BSD-3-Clause
// The sizes that the rooms share: pages, granules (a power of two pages; the exponent is the kind) and pieces.
#pragma once

#include <stdint.h>

namespace ringside::memory {

inline constexpr uint32_t kPageShift = 12, kPieceShift = 20;
inline constexpr uint64_t kPage = uint64_t{1} << kPageShift, kPiece = uint64_t{1} << kPieceShift;
inline constexpr uint32_t kPagesPerPiece = uint32_t{1} << (kPieceShift - kPageShift);
inline constexpr uint32_t kKinds = kPieceShift - kPageShift + 1;  // granules of 4 KiB to 1 MiB
inline constexpr uint32_t kBatch = 64;                            // the most granules that move together
inline constexpr uint64_t kMostAlignment = uint64_t{1} << 30;     // of an allocation
/// Of a granule.
inline constexpr uint64_t bytes_of(uint32_t kind) noexcept {
  return kPage << kind;
}
/// The pages of a chunk: 64 granules of one cache, but at most a piece, because all granules of a piece have one size.
inline constexpr uint32_t chunk_pages(uint32_t kind) noexcept {
  return kBatch << kind < kPagesPerPiece ? kBatch << kind : kPagesPerPiece;
}

}  // namespace ringside::memory
