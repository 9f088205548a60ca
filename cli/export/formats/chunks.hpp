// SPDX-License-Identifier: BSD-3-Clause
// Cuts an array into chunks of contiguous entries: the last dimensions are whole, one dimension is cut, and the first
// ones are taken index by index. So a chunk is written from the kept variable without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ringside {

/// The approximate bytes of a chunk: large enough that one file per chunk costs little, small enough to load one.
inline constexpr std::uint64_t kExportChunkBytes = std::uint64_t{16} << 20;

/// libhdf5 takes chunks of less than 4 GiB.
inline constexpr std::uint64_t kMostChunkBytes = (std::uint64_t{4} << 30) - 1;

/// The shape of all chunks except the last ones of a dimension, which may be shorter. If an array is cut, its chunks
/// have a multiple of DirectFile::kAlignment bytes, unless that makes them longer by more than a sixteenth: each then
/// begins where a direct write may. Empty for an array without dimensions.
std::vector<std::uint64_t> chunk_shape(std::span<const std::uint64_t> shape, std::size_t entry_bytes,
                                       std::uint64_t target_bytes = kExportChunkBytes);

struct ChunkPlace {
  std::vector<std::uint64_t> index;  // the chunk's, in each dimension
  std::vector<std::uint64_t> first;  // index of its first entry
  std::vector<std::uint64_t> count;  // number of its entries, in each dimension
  std::uint64_t offset = 0;          // of its first byte in the array
  std::uint64_t bytes = 0;
};

/// Calls use(place) for each chunk, in row-major order. chunk: from chunk_shape, or of any other shape. The entries of
/// other shapes need not be contiguous in the array, and `offset` then has no meaning.
void for_each_chunk(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> chunk, std::size_t entry_bytes,
                    const std::function<void(const ChunkPlace&)>& use);

/// The array as one chunk.
ChunkPlace whole_of(std::span<const std::uint64_t> shape, std::size_t entry_bytes);

/// The bytes of a chunk, padded with zeros to the size of a whole one if it is shorter: `bytes` itself if it is whole,
/// else a copy in `buffer`.
std::span<const std::byte> padded(std::span<const std::byte> bytes, std::span<const std::uint64_t> count,
                                  std::span<const std::uint64_t> chunk, std::size_t entry_bytes,
                                  std::vector<std::byte>& buffer);

}  // namespace ringside
