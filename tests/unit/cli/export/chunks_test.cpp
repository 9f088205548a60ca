// SPDX-License-Identifier: BSD-3-Clause
// Chunks cover each entry of an array once, in the order of the entries.
#include "cli/export/formats/chunks.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

namespace ringside {
namespace {

using Extents = std::vector<std::uint64_t>;

TEST(ChunksTest, TheLastDimensionsAreWholeAndOneIsCutIntoAlmostEqualParts) {
  EXPECT_EQ(chunk_shape(Extents{100, 10, 10}, 8, 8000), (Extents{10, 10, 10}));
  EXPECT_EQ(chunk_shape(Extents{101, 10, 10}, 8, 8000), (Extents{10, 10, 10}));
  EXPECT_EQ(chunk_shape(Extents{3, 1000}, 8, 4000), (Extents{1, 500}));
  EXPECT_EQ(chunk_shape(Extents{3, 1001}, 8, 4000), (Extents{1, 334}));
  EXPECT_EQ(chunk_shape(Extents{3, 4}, 8, 4000), (Extents{3, 4}));
  EXPECT_EQ(chunk_shape(Extents{5, 2}, 16, 1), (Extents{1, 1}));
  EXPECT_EQ(chunk_shape(Extents{}, 8), Extents());
}

TEST(ChunksTest, LongChunksHaveWholePages) {
  EXPECT_EQ(chunk_shape(Extents{8000, 8000}, 8), (Extents{264, 8000}));  // 8 rows of 64,000 bytes are 125 pages
  EXPECT_EQ(chunk_shape(Extents{100'000'003}, 8), (Extents{2'083'840}));
  EXPECT_EQ(chunk_shape(Extents{40, 1001}, 8, 80'080), (Extents{10, 1001}));  // alignment would need 512 rows
}

TEST(ChunksTest, EveryEntryIsInOneChunkAndAChunkLiesTogether) {
  for (const Extents& shape :
       {Extents{}, Extents{7}, Extents{1}, Extents{5, 7}, Extents{4, 3, 5}, Extents{2, 3, 2, 3}}) {
    for (const std::uint64_t target : {1u, 9u, 16u, 50u, 1000u}) {
      const Extents chunk = chunk_shape(shape, 4, target);
      std::uint64_t next = 0;
      for_each_chunk(shape, chunk, 4, [&](const ChunkPlace& place) {
        EXPECT_EQ(place.offset, next);
        next += place.bytes;
        std::uint64_t first = 0;
        std::uint64_t entries = 1;
        for (std::size_t d = 0; d < shape.size(); ++d) {
          first = first * shape[d] + place.first[d];
          entries *= place.count[d];
          EXPECT_EQ(place.first[d], place.index[d] * chunk[d]);
          EXPECT_LE(place.first[d] + place.count[d], shape[d]);
        }
        EXPECT_EQ(place.offset, 4 * first);
        EXPECT_EQ(place.bytes, 4 * entries);
      });
      EXPECT_EQ(next, 4 * std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>()));
    }
  }
}

}  // namespace
}  // namespace ringside
