// SPDX-License-Identifier: BSD-3-Clause
// Arrays that are assembled from the boxes of several nodes: any part of any slice must have the same bytes as in the
// whole array.
#include "common/node_rings/assembly.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "cli/export/formats/chunks.hpp"
#include "cli/export/formats/slice.hpp"

namespace ringside {
namespace {

using Numbers = std::vector<std::uint64_t>;

Box box_of(const Numbers& offset, const Numbers& extent) {
  Box box;
  std::ranges::copy(offset, box.offset.begin());
  std::ranges::copy(extent, box.extent.begin());
  return box;
}

std::uint64_t product(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{1}, std::multiplies<>());
}

/// A variable that is distributed over nodes. The value of each entry is its index.
class Spread {
 public:
  /// ranks: the box and the node of each rank.
  Spread(const Numbers& shape, const std::vector<std::pair<Box, std::size_t>>& ranks, std::size_t nodes) {
    file_.variables = {{.name = "u", .dtype = DType::kU32, .shape = shape}};
    file_.nodes.resize(nodes);
    bytes_.resize(nodes);
    whole_.resize(product(shape));
    std::iota(whole_.begin(), whole_.end(), 0u);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const auto& [box, node] = ranks[r];
      file_.nodes[node].ranks.push_back({static_cast<std::uint32_t>(r), {box}});
      Region region{.whole_shape = shape, .ranges = {}};
      for (std::size_t d = 0; d < shape.size(); ++d) region.ranges.push_back({.first = box.offset[d], .count = box.extent[d]});
      if (region.entries() == 0) continue;
      std::vector<std::byte> buffer;
      const std::span<const std::byte> its = select(region, sizeof(std::uint32_t), std::as_bytes(std::span(whole_)), buffer);
      bytes_[node].insert(bytes_[node].end(), its.begin(), its.end());
    }
    assembly_.emplace(file_);
  }

  const RanksFile& file() const { return file_; }
  const Assembly& assembly() const { return *assembly_; }

  std::vector<std::byte> part(const Region& region, const ChunkPlace& place) const {
    std::vector<std::byte> buffer;
    const auto found = assembly_->part(
        0, indices_of(region, place), [this](std::size_t node) { return std::span<const std::byte>(bytes_[node]); }, buffer);
    return {found.begin(), found.end()};
  }

  /// Expects that each chunk of the slice has the same bytes as that part of the slice of the whole array.
  void expect_slice(const std::string& text, std::uint64_t chunk_bytes) const {
    const Variable& variable = file_.variables[0];
    const Region region = text.empty() ? Slice().of(variable) : Slice(text).of(variable);
    std::vector<std::byte> buffer;
    const auto expected = select(region, sizeof(std::uint32_t), std::as_bytes(std::span(whole_)), buffer);
    const Numbers shape = region.shape();
    for_each_chunk(shape, chunk_shape(shape, 4, chunk_bytes), 4, [&](const ChunkPlace& place) {
      const std::vector<std::byte> found = part(region, place);
      ASSERT_EQ(found.size(), place.bytes);
      EXPECT_EQ(std::memcmp(found.data(), expected.data() + place.offset, place.bytes), 0) << text << " at " << place.offset;
    });
  }

 private:
  RanksFile file_;
  std::vector<std::uint32_t> whole_;
  std::vector<std::vector<std::byte>> bytes_;  // the bytes of each node
  std::optional<Assembly> assembly_;
};

TEST(Assembly, PartsOfRandomSlicesOfRandomBoxesAreThoseOfTheWhole) {
  std::mt19937 random(7);
  const auto upto = [&](std::uint64_t most) { return random() % (most + 1); };
  for (int round = 0; round < 300; ++round) {
    Numbers shape(1 + upto(3));
    for (std::uint64_t& extent : shape) extent = 1 + upto(8);
    // Cuts a random box at a random place, several times.
    std::vector<Box> boxes = {box_of(Numbers(shape.size(), 0), shape)};
    for (std::uint64_t cuts = upto(9); cuts > 0; --cuts) {
      Box& box = boxes[upto(boxes.size() - 1)];
      const std::size_t d = upto(shape.size() - 1);
      Box rest = box;
      box.extent[d] = upto(box.extent[d]);
      rest.offset[d] += box.extent[d];
      rest.extent[d] -= box.extent[d];
      boxes.push_back(rest);
    }
    std::ranges::shuffle(boxes, random);
    const std::size_t nodes = 1 + upto(3);
    std::vector<std::pair<Box, std::size_t>> ranks;
    for (const Box& box : boxes) ranks.emplace_back(box, upto(nodes - 1));
    const Spread spread(shape, ranks, nodes);
    spread.expect_slice("", 16);
    spread.expect_slice("", 1 << 20);
    std::string slice;
    for (const std::uint64_t extent : shape) {
      const std::uint64_t begin = upto(extent - 1);
      slice += slice.empty() ? "" : ",";
      slice += upto(3) == 0 ? std::to_string(begin)
                            : std::to_string(begin) + ":" + std::to_string(begin + 1 + upto(extent - 1 - begin)) + ":" +
                                  std::to_string(1 + upto(3));
    }
    spread.expect_slice(slice, 16);
    spread.expect_slice(slice, 1 << 20);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

TEST(Assembly, AStepMayBeAny64BitNumber) {
  const Spread spread({10}, {{box_of({0}, {3}), 0}, {box_of({3}, {7}), 1}}, 2);
  for (const std::uint64_t step : {~std::uint64_t{0}, ~std::uint64_t{0} - 6, std::uint64_t{1} << 63}) {
    spread.expect_slice("0:10:" + std::to_string(step), 16);
    spread.expect_slice("2:10:" + std::to_string(step), 16);
    spread.expect_slice("5:10:" + std::to_string(step), 16);
  }
}

TEST(Assembly, AReplicatedVariableIsTakenFromTheFirstNode) {
  const Box all{.distribution = Distribution::kReplicated};
  RanksFile file{.run_id = {}, .problem_id = {}, .variables = {{.name = "b", .dtype = DType::kU8, .shape = {3}}}, .nodes = {}};
  file.nodes = {{"", "", {{0, {all}}}}, {"", "", {{1, {all}}}}};
  const Assembly assembly(file);
  const std::vector<std::byte> bytes = {std::byte{1}, std::byte{2}, std::byte{3}};
  std::vector<std::byte> buffer;
  const Numbers shape = {3};
  const auto found = assembly.part(0, indices_of(Slice().of(file.variables[0]), whole_of(shape, 1)),
                                   [&](std::size_t node) {
                                     EXPECT_EQ(node, 0u);
                                     return std::span<const std::byte>(bytes);
                                   },
                                   buffer);
  EXPECT_EQ(found.data(), bytes.data()) << "without a copy";
  EXPECT_EQ(assembly.chunk_of_ranks(0, kMostChunkBytes), Numbers());
}

TEST(Assembly, ARankIsAChunkIfAllBoxesAreOfOneSize) {
  const auto chunk_of = [](const Numbers& shape, const std::vector<Box>& boxes) {
    std::vector<std::pair<Box, std::size_t>> ranks;
    for (const Box& box : boxes) ranks.emplace_back(box, 0);
    return Spread(shape, ranks, 1).assembly().chunk_of_ranks(0, kMostChunkBytes);
  };
  EXPECT_EQ(chunk_of({5, 3}, {box_of({0, 0}, {2, 3}), box_of({4, 0}, {1, 3}), box_of({2, 0}, {2, 3})}), (Numbers{2, 3}));
  EXPECT_EQ(chunk_of({4, 4}, {box_of({0, 0}, {2, 3}), box_of({0, 3}, {2, 1}), box_of({2, 0}, {2, 3}), box_of({2, 3}, {2, 1})}),
            (Numbers{2, 3}));
  EXPECT_EQ(chunk_of({5, 3}, {box_of({0, 0}, {2, 3}), box_of({2, 0}, {3, 3})}), Numbers()) << "the second one is longer";
  EXPECT_EQ(chunk_of({5, 3}, {box_of({0, 0}, {5, 3})}), Numbers()) << "one rank: as of one ring";
  EXPECT_EQ(chunk_of({4}, {box_of({0}, {2}), box_of({2}, {2}), box_of({4}, {0})}), (Numbers{2})) << "a rank without entries";
}

}  // namespace
}  // namespace ringside
