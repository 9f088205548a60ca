// SPDX-License-Identifier: BSD-3-Clause
// Cuts an array into chunks of contiguous entries: a chunk contains the last dimensions as a whole, a part of one
// dimension, and a single index of each dimension before that. A chunk can therefore be written from the kept variable
// without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ringside {

/// The approximate size of a chunk in bytes: large enough that one file per chunk costs little, and small enough that a
/// reader can load a single chunk.
inline constexpr std::uint64_t kExportChunkBytes = std::uint64_t{16} << 20;

/// libhdf5 takes chunks of less than 4 GiB.
inline constexpr std::uint64_t kMostChunkBytes = (std::uint64_t{4} << 30) - 1;

/// The shape of all chunks except the last ones of a dimension, which may be shorter. If an array is cut, the size of
/// its chunks is a multiple of DirectFile::kAlignment bytes, so that a direct write may begin at the start of each
/// chunk. Exception: an array whose chunks would thereby become longer by more than a sixteenth. Empty for an array
/// without dimensions.
std::vector<std::uint64_t> chunk_shape(std::span<const std::uint64_t> shape, std::size_t entry_bytes,
                                       std::uint64_t target_bytes = kExportChunkBytes);

struct ChunkPlace {
  std::vector<std::uint64_t> index;  // the chunk's index, in each dimension
  std::vector<std::uint64_t> first;  // the index of its first entry, in each dimension
  std::vector<std::uint64_t> count;  // the number of its entries, in each dimension
  std::uint64_t offset = 0;          // the offset of its first byte in the array
  std::uint64_t bytes = 0;
};

/// Calls use(place) for each chunk, in row-major order. chunk: a shape from chunk_shape, or any other shape. The
/// entries of a chunk with another shape need not be contiguous in the array, and its `offset` then has no meaning.
void for_each_chunk(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> chunk, std::size_t entry_bytes,
                    const std::function<void(const ChunkPlace&)>& use);

/// The array as one chunk.
ChunkPlace whole_of(std::span<const std::uint64_t> shape, std::size_t entry_bytes);

/// The bytes of a chunk, padded with zeros to the size of a whole chunk: `bytes` itself if the chunk is whole, else a
/// copy in `buffer`.
std::span<const std::byte> padded(std::span<const std::byte> bytes, std::span<const std::uint64_t> count,
                                  std::span<const std::uint64_t> chunk, std::size_t entry_bytes,
                                  std::vector<std::byte>& buffer);

}  // namespace ringside
