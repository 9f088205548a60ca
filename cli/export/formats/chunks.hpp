// SPDX-License-Identifier: BSD-3-Clause
// How an array is cut into chunks whose entries lie together: the last dimensions whole, one dimension cut, the first
// ones index by index. So a chunk is written from the kept variable without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ringside {

/// The bytes of a chunk, about: large enough that a file for each of them costs little, small enough to load one.
inline constexpr std::uint64_t kExportChunkBytes = std::uint64_t{16} << 20;

/// libhdf5 takes chunks of less than 4 GiB.
inline constexpr std::uint64_t kMostChunkBytes = (std::uint64_t{4} << 30) - 1;

/// The shape of all chunks but the last ones of a dimension, which may be shorter. Those of an array that is cut
/// have multiples of DirectFile::kAlignment bytes, if that makes them longer by a sixteenth at most: then each begins
/// where a direct write may. Empty for an array without dimensions.
std::vector<std::uint64_t> chunk_shape(std::span<const std::uint64_t> shape, std::size_t entry_bytes,
                                       std::uint64_t target_bytes = kExportChunkBytes);

struct ChunkPlace {
  std::vector<std::uint64_t> index;  // of the chunk, in each dimension
  std::vector<std::uint64_t> first;  // its first entry
  std::vector<std::uint64_t> count;  // its entries, in each dimension
  std::uint64_t offset = 0;          // of its first byte in the array
  std::uint64_t bytes = 0;
};

/// Calls use(place) for each chunk, in row-major order. chunk: of chunk_shape, or any other one, whose entries then need
/// not lie together in the array: `offset` has no meaning.
void for_each_chunk(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> chunk, std::size_t entry_bytes,
                    const std::function<void(const ChunkPlace&)>& use);

/// The array as one chunk.
ChunkPlace whole_of(std::span<const std::uint64_t> shape, std::size_t entry_bytes);

/// The bytes of a chunk that may be shorter than the others as those of a whole one, with zeros: `bytes` itself if it is
/// whole, else a copy in `buffer`.
std::span<const std::byte> padded(std::span<const std::byte> bytes, std::span<const std::uint64_t> count,
                                  std::span<const std::uint64_t> chunk, std::size_t entry_bytes,
                                  std::vector<std::byte>& buffer);

}  // namespace ringside
