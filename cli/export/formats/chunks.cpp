// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/formats/chunks.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "common/files/direct_file.hpp"

namespace ringside {

std::vector<std::uint64_t> chunk_shape(std::span<const std::uint64_t> shape, std::size_t entry_bytes,
                                       std::uint64_t target_bytes) {
  std::vector<std::uint64_t> chunk(shape.size(), 1);
  std::uint64_t bytes = entry_bytes;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::uint64_t most = std::max<std::uint64_t>(1, target_bytes / bytes);
    if (shape[d] > most) {
      const std::uint64_t pieces = (shape[d] - 1) / most + 1;
      chunk[d] = (shape[d] - 1) / pieces + 1;  // pieces of almost equal length, so that the last needs little padding
      constexpr std::uint64_t kAligned = DirectFile::kAlignment;
      const std::uint64_t unit = kAligned / std::gcd(bytes, kAligned);
      if (16 * unit <= chunk[d]) chunk[d] = (chunk[d] + unit - 1) / unit * unit;
      break;
    }
    chunk[d] = shape[d];
    bytes *= shape[d];
  }
  return chunk;
}

void for_each_chunk(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> chunk, std::size_t entry_bytes,
                    const std::function<void(const ChunkPlace&)>& use) {
  const std::size_t dimensions = shape.size();
  ChunkPlace place{.index = std::vector<std::uint64_t>(dimensions, 0),
                   .first = std::vector<std::uint64_t>(dimensions, 0),
                   .count = std::vector<std::uint64_t>(dimensions, 1)};
  for (;;) {
    place.bytes = entry_bytes;
    for (std::size_t d = 0; d < dimensions; ++d) {
      place.first[d] = place.index[d] * chunk[d];
      place.count[d] = std::min(chunk[d], shape[d] - place.first[d]);
      place.bytes *= place.count[d];
    }
    use(place);
    place.offset += place.bytes;  // chunks are contiguous, in the order of their entries
    std::size_t d = dimensions;
    while (d > 0 && (place.index[d - 1] + 1) * chunk[d - 1] >= shape[d - 1]) place.index[--d] = 0;
    if (d == 0) return;
    ++place.index[d - 1];
  }
}

ChunkPlace whole_of(std::span<const std::uint64_t> shape, std::size_t entry_bytes) {
  ChunkPlace place{.index = std::vector<std::uint64_t>(shape.size(), 0),
                   .first = std::vector<std::uint64_t>(shape.size(), 0),
                   .count = {shape.begin(), shape.end()},
                   .bytes = entry_bytes};
  for (const std::uint64_t extent : shape) place.bytes *= extent;
  return place;
}

std::span<const std::byte> padded(std::span<const std::byte> bytes, std::span<const std::uint64_t> count,
                                  std::span<const std::uint64_t> chunk, std::size_t entry_bytes,
                                  std::vector<std::byte>& buffer) {
  if (std::ranges::equal(count, chunk)) return bytes;
  std::uint64_t whole = entry_bytes;
  for (const std::uint64_t extent : chunk) whole *= extent;
  buffer.assign(whole, std::byte{0});
  const std::size_t last = count.size() - 1;  // arrays without dimensions have whole chunks only
  const std::uint64_t row_bytes = count[last] * entry_bytes;
  std::vector<std::uint64_t> index(count.size(), 0);
  for (std::uint64_t from = 0; from < bytes.size(); from += row_bytes) {
    std::uint64_t to = 0;
    for (std::size_t d = 0; d < last; ++d) to = (to + index[d]) * chunk[d + 1];
    std::memcpy(buffer.data() + to * entry_bytes, bytes.data() + from, row_bytes);
    for (std::size_t d = last; d-- > 0 && ++index[d] == count[d];) index[d] = 0;
  }
  return buffer;
}

}  // namespace ringside
