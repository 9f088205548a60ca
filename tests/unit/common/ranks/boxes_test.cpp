// SPDX-License-Identifier: BSD-3-Clause
// The distribution of a variable over ranks: which boxes are refused, with which message, and which part a node keeps
// (docs/publish/mpi.md, "The step of a node").
#include "common/ranks/boxes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

using Numbers = std::vector<std::uint64_t>;

Variable variable_of(const Numbers& shape) {
  return {.name = "u", .dtype = DType::kF32, .shape = shape, .role = Role::kState, .unit = "m"};
}

Box box_of(const Numbers& offset, const Numbers& extent) {
  Box box;
  std::ranges::copy(offset, box.offset.begin());
  std::ranges::copy(extent, box.extent.begin());
  return box;
}

Box rows_of(std::uint64_t begin, std::uint64_t count) {
  return box_of({begin}, {count});
}

Box replicated() {
  return {.distribution = Distribution::kReplicated};
}

/// The line after the name of the variable.
std::string refusal_of(const Numbers& shape, const Box& box) {
  return between("variable 'u': ", failure_line([&] { check_within(variable_of(shape), box); }), "");
}

std::string refusal_of_all(const Numbers& shape, const std::vector<Box>& boxes) {
  for (const Box& box : boxes) check_within(variable_of(shape), box);
  return between("variable 'u': ", failure_line([&] { check_cover(variable_of(shape), boxes); }), "");
}

constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;

TEST(BoxesTest, ABoxLiesWithinItsVariable) {
  EXPECT_EQ(refusal_of({10}, rows_of(0, 10)), "");
  EXPECT_EQ(refusal_of({10}, rows_of(9, 1)), "");
  EXPECT_EQ(refusal_of({10}, rows_of(10, 0)), "") << "a rank without rows, at the end";
  EXPECT_EQ(refusal_of({4, 6}, box_of({2, 3}, {2, 3})), "");
  EXPECT_EQ(refusal_of({10}, rows_of(3, 8)), "found a box of offset [3] extent [8]; expected one within [10]");
  EXPECT_EQ(refusal_of({10}, rows_of(11, 0)), "found a box of offset [11] extent [0]; expected one within [10]");
  EXPECT_EQ(refusal_of({4, 6}, box_of({0, 4}, {4, 3})),
            "found a box of offset [0,4] extent [4,3]; expected one within [4,6]");
}

TEST(BoxesTest, SumsThatOverflowAreNotWithin) {
  EXPECT_EQ(refusal_of({10}, rows_of(kHuge + 5, kHuge)),
            "found a box of offset [9223372036854775813] extent [9223372036854775808]; expected one within [10]");
  EXPECT_EQ(refusal_of({10}, rows_of(5, ~std::uint64_t{0} - 2)),
            "found a box of offset [5] extent [18446744073709551613]; expected one within [10]");
  EXPECT_EQ(refusal_of({kHuge, 2}, box_of({0, 0}, {1, 1})),
            "[9223372036854775808,2] has more entries than a 64-bit number");
  EXPECT_EQ(refusal_of({kHuge, 2}, replicated()), "[9223372036854775808,2] has more entries than a 64-bit number");
}

TEST(BoxesTest, AVariableHasEntries) {
  EXPECT_EQ(refusal_of({4, 0}, box_of({0, 0}, {4, 0})), "found shape [4,0]; expected at least 1 in each dimension");
  EXPECT_EQ(refusal_of({}, Box{}), "it has no dimension that could be distributed; expected RINGSIDE_MPI_REPLICATED");
  EXPECT_EQ(refusal_of({}, replicated()), "");
  EXPECT_EQ(refusal_of({4, 6}, replicated()), "");
}

TEST(BoxesTest, RowsThatFollowEachOtherCover) {
  EXPECT_EQ(refusal_of_all({10}, {rows_of(0, 10)}), "");
  EXPECT_EQ(refusal_of_all({10}, {rows_of(0, 4), rows_of(4, 3), rows_of(7, 3)}), "");
  EXPECT_EQ(refusal_of_all({10}, {rows_of(7, 3), rows_of(0, 4), rows_of(4, 3)}), "") << "in any order";
  EXPECT_EQ(refusal_of_all({10}, {rows_of(5, 0), rows_of(0, 6), rows_of(3, 0), rows_of(6, 4), rows_of(10, 0)}), "")
      << "ranks without rows may name any";
}

TEST(BoxesTest, RowsThatNoRankHasAreFound) {
  EXPECT_EQ(refusal_of_all({10}, {rows_of(0, 4), rows_of(5, 5)}),
            "the boxes of all ranks cover 9 of its 10 entries; no rank has row 4");
  EXPECT_EQ(refusal_of_all({10}, {rows_of(4, 6)}),
            "the boxes of all ranks cover 6 of its 10 entries; no rank has row 0");
  EXPECT_EQ(refusal_of_all({10}, {rows_of(4, 4), rows_of(0, 4)}),
            "the boxes of all ranks cover 8 of its 10 entries; no rank has row 8");
  EXPECT_EQ(refusal_of_all({10}, {rows_of(0, 0), rows_of(10, 0)}),
            "the boxes of all ranks cover 0 of its 10 entries; no rank has row 0");
  EXPECT_EQ(refusal_of_all({4, 6}, {box_of({0, 0}, {4, 3}), box_of({0, 3}, {3, 3})}),
            "the boxes of all ranks cover 21 of its 24 entries")
      << "each row has a rank, if not all of it";
}

TEST(BoxesTest, RanksThatHaveTheSameEntriesAreNamed) {
  EXPECT_EQ(refusal_of_all({10}, {rows_of(0, 6), rows_of(5, 5)}),
            "the boxes of ranks 0 (offset [0] extent [6]) and 1 (offset [5] extent [5]) overlap");
  EXPECT_EQ(refusal_of_all({10}, {rows_of(8, 2), rows_of(0, 0), rows_of(0, 9)}),
            "the boxes of ranks 0 (offset [8] extent [2]) and 2 (offset [0] extent [9]) overlap");
  EXPECT_EQ(refusal_of_all({10}, {rows_of(0, 10), rows_of(0, 10)}),
            "the boxes of ranks 0 (offset [0] extent [10]) and 1 (offset [0] extent [10]) overlap");
  EXPECT_EQ(refusal_of_all({4, 6}, {box_of({0, 0}, {2, 6}), box_of({2, 0}, {2, 4}), box_of({1, 4}, {3, 2})}),
            "the boxes of ranks 0 (offset [0,0] extent [2,6]) and 2 (offset [1,4] extent [3,2]) overlap");
}

std::vector<Box> cubes() {
  std::vector<Box> boxes;
  for (const std::uint64_t a : {0u, 1u}) {
    for (const std::uint64_t b : {0u, 4u}) {
      for (const std::uint64_t c : {0u, 3u}) {
        boxes.push_back(box_of({a, b, c}, {a == 0 ? 1u : 3u, b == 0 ? 4u : 2u, c == 0 ? 3u : 7u}));
      }
    }
  }
  return boxes;
}

TEST(BoxesTest, BoxesOfThreeDimensionsCover) {
  const Numbers shape = {4, 6, 10};
  EXPECT_EQ(refusal_of_all(shape, cubes()), "");
  std::vector<Box> boxes = cubes();
  boxes[5] = boxes[6];
  EXPECT_EQ(refusal_of_all(shape, boxes),
            "the boxes of ranks 5 (offset [1,4,0] extent [3,2,3]) and 6 (offset [1,4,0] extent [3,2,3]) overlap");
  boxes = cubes();
  boxes[3].extent[2] = 6;
  EXPECT_EQ(refusal_of_all(shape, boxes), "the boxes of all ranks cover 238 of its 240 entries");
}

TEST(BoxesTest, ManyColumnsThatShareTheirRowsAreComparedWithTheirNeighboursOnly) {
  constexpr std::uint64_t kColumns = 300'000;  // comparing all pairs would take minutes
  const Numbers shape = {3, kColumns};
  std::vector<Box> boxes;
  for (std::uint64_t column = kColumns; column-- > 0;) boxes.push_back(box_of({0, column}, {3, 1}));
  EXPECT_EQ(refusal_of_all(shape, boxes), "");
  boxes[7].extent[1] = 2;
  EXPECT_EQ(refusal_of_all(shape, boxes),
            "the boxes of ranks 6 (offset [0,299993] extent [3,1]) and 7 (offset [0,299992] extent [3,2]) overlap");
  boxes[7].extent = {2, 1};
  EXPECT_EQ(refusal_of_all(shape, boxes), "the boxes of all ranks cover 899999 of its 900000 entries");
}

TEST(BoxesTest, AVariableIsReplicatedOnAllRanksOrNone) {
  EXPECT_EQ(refusal_of_all({10}, {replicated(), replicated(), replicated()}), "");
  EXPECT_EQ(refusal_of_all({10}, {replicated(), rows_of(0, 10)}),
            "it is distributed on rank 1 and replicated on rank 0; expected the same on all ranks");
  EXPECT_EQ(refusal_of_all({10}, {rows_of(0, 5), rows_of(5, 5), replicated()}),
            "it is replicated on rank 2 and distributed on rank 0; expected the same on all ranks");
}

// --- the part that a node keeps ----------------------------------------------------------------------------------

struct Kept {
  Numbers shape;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts;  // offset and size in bytes, for each rank
  bool operator==(const Kept&) const = default;
};

/// The part that a node keeps if its ranks have these boxes.
Kept kept_of(const Numbers& shape, const std::vector<Box>& boxes) {
  Kept kept;
  for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
    const NodeVariable found = node_variable(variable_of(shape), boxes, rank);
    EXPECT_TRUE(rank == 0 || kept.shape == found.variable.shape) << "all ranks find the same";
    EXPECT_TRUE(found.is_kept);
    Variable expected = variable_of(shape);
    kept.shape = expected.shape = found.variable.shape;
    EXPECT_EQ(found.variable, expected) << "but for its shape it is the solver's variable";
    kept.parts.emplace_back(found.offset_bytes, found.bytes);
  }
  return kept;
}

TEST(NodeVariableTest, RowsInOrderAreTheNodesRows) {
  EXPECT_EQ(kept_of({100}, {rows_of(40, 10), rows_of(50, 5), rows_of(55, 25)}),
            (Kept{{40}, {{0, 40}, {40, 20}, {60, 100}}}));
  EXPECT_EQ(kept_of({100, 3}, {box_of({40, 0}, {10, 3}), box_of({50, 0}, {5, 3})}),
            (Kept{{15, 3}, {{0, 120}, {120, 60}}}));
  EXPECT_EQ(kept_of({100, 3}, {rows_of(0, 0), box_of({40, 0}, {10, 3}), rows_of(7, 0), box_of({50, 0}, {5, 3})}),
            (Kept{{15, 3}, {{0, 0}, {0, 120}, {120, 0}, {120, 60}}}))
      << "ranks without rows change nothing";
  EXPECT_EQ(kept_of({4, 6, 10}, {box_of({0, 0, 0}, {4, 6, 10})}), (Kept{{4, 6, 10}, {{0, 960}}}));
}

TEST(NodeVariableTest, AnythingElseIsEntryAfterEntry) {
  EXPECT_EQ(kept_of({100, 3}, {box_of({50, 0}, {5, 3}), box_of({40, 0}, {10, 3})}), (Kept{{45}, {{0, 60}, {60, 120}}}))
      << "rows that do not follow each other in the order of the ranks";
  EXPECT_EQ(kept_of({100, 3}, {box_of({40, 0}, {10, 3}), box_of({60, 0}, {5, 3})}), (Kept{{45}, {{0, 120}, {120, 60}}}))
      << "rows of another node between them";
  EXPECT_EQ(kept_of({4, 6}, {box_of({0, 0}, {4, 3})}), (Kept{{12}, {{0, 48}}})) << "columns";
  const std::vector<Box> all = cubes();
  EXPECT_EQ(kept_of({4, 6, 10}, {all.begin(), all.begin() + 3}), (Kept{{46}, {{0, 48}, {48, 112}, {160, 24}}}));
}

TEST(NodeVariableTest, ReplicatedIsWhatTheFirstRankHas) {
  for (const Numbers& shape : {Numbers{}, Numbers{6, 7}}) {
    for (const std::size_t rank : {0u, 1u, 2u}) {
      const NodeVariable found = node_variable(variable_of(shape), std::vector<Box>(3, replicated()), rank);
      EXPECT_EQ(found.variable, variable_of(shape));
      EXPECT_EQ(found.offset_bytes, 0u);
      EXPECT_EQ(found.bytes, shape.empty() ? 4u : 168u);
      EXPECT_EQ(found.is_kept, rank == 0);
    }
  }
}

TEST(NodeVariableTest, ANodeWithoutEntriesIsRefused) {
  const std::vector<Box> boxes = {rows_of(0, 0), rows_of(5, 0)};
  EXPECT_EQ(failure_line([&] { node_variable(variable_of({10}), boxes, 1); }),
            "no rank of this node has an entry of variable 'u'; expected at least one, or fewer nodes");
}

// --- random boxes ------------------------------------------------------------------------------------------------

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : bits_(seed) {}
  std::uint64_t below(std::uint64_t count) { return bits_() % count; }

  Numbers shape() {
    Numbers drawn(1 + below(4));
    for (std::uint64_t& extent : drawn) extent = 1 + below(9);
    return drawn;
  }

  /// Cuts the variable at random places, and distributes the boxes, including empty ones, over the ranks at random.
  std::vector<Box> partition(const Numbers& shape) {
    std::vector<Box> boxes = {box_of(Numbers(shape.size(), 0), shape)};
    for (std::uint64_t cuts = below(12); cuts > 0; --cuts) {
      Box& cut = boxes[below(boxes.size())];
      const std::uint64_t d = below(shape.size());
      if (cut.extent[d] < 2) continue;
      Box behind = cut;
      cut.extent[d] = 1 + below(cut.extent[d] - 1);
      behind.offset[d] += cut.extent[d];
      behind.extent[d] -= cut.extent[d];
      boxes.push_back(behind);
    }
    for (std::uint64_t empty = below(3); empty > 0; --empty) {
      Box box = boxes[below(boxes.size())];
      box.extent[below(shape.size())] = 0;
      boxes.push_back(box);
    }
    std::ranges::shuffle(boxes, bits_);
    return boxes;
  }

 private:
  std::mt19937_64 bits_;
};

TEST(BoxesTest, EachPartitionCoversAndNoneWithAMovedFaceDoes) {
  Chance chance(1);
  int moved = 0;
  for (int round = 0; round < 3000; ++round) {
    const Numbers shape = chance.shape();
    std::vector<Box> boxes = chance.partition(shape);
    ASSERT_EQ(refusal_of_all(shape, boxes), "") << "round " << round;

    Box& box = boxes[chance.below(boxes.size())];
    if (std::ranges::count(box.extent, 0u) != static_cast<std::ptrdiff_t>(kMostDims - shape.size())) continue;  // empty
    const std::uint64_t d = chance.below(shape.size());
    switch (chance.below(4)) {
      case 0: --box.extent[d]; break;
      case 1: ++box.offset[d], --box.extent[d]; break;
      case 2:
        if (box.offset[d] + box.extent[d] == shape[d]) continue;
        ++box.extent[d];
        break;
      default:
        if (box.offset[d] == 0) continue;
        --box.offset[d], ++box.extent[d];
    }
    ++moved;
    ASSERT_NE(refusal_of_all(shape, boxes), "") << "round " << round;
  }
  EXPECT_GT(moved, 1000);
}

TEST(NodeVariableTest, PartsOfANodeFollowEachOther) {
  Chance chance(2);
  for (int round = 0; round < 1000; ++round) {
    const Numbers shape = chance.shape();
    const std::vector<Box> boxes = chance.partition(shape);
    const Kept kept = kept_of(shape, boxes);  // one node has all ranks
    std::uint64_t end = 0;
    for (const auto& [offset, bytes] : kept.parts) {
      ASSERT_EQ(offset, end) << "round " << round;
      end += bytes;
    }
    ASSERT_EQ(end, 4 * entries_of(shape, "")) << "round " << round;
    ASSERT_EQ(end, 4 * entries_of(kept.shape, "")) << "round " << round;
  }
}

}  // namespace
}  // namespace ringside
