// SPDX-License-Identifier: BSD-3-Clause
// A node's plan for a run: which of the node's parts continue those of the previous nodes, and which are boxes.
#include "analyzer/whole_run/round_plan.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace ringside {
namespace {

Box box(std::uint64_t row, std::uint64_t column, std::uint64_t rows, std::uint64_t columns) {
  Box made;
  made.offset = {row, column};
  made.extent = {rows, columns};
  return made;
}

/// A field of 4 by 6 entries on two nodes of two ranks.
RanksFile ranks_file(const std::vector<Box>& boxes, std::uint32_t node) {
  RanksFile file;
  file.variables = {{.name = "u", .dtype = DType::kF64, .shape = {4, 6}}};
  file.nodes.resize(2);
  for (std::uint32_t r = 0; r < boxes.size(); ++r) file.nodes[r / 2].ranks.push_back({.rank = r, .boxes = {boxes[r]}});
  file.node = node;
  file.round = RanksFile::Round{.attachment = {}, .places = {{"a:1", "key a"}, {"b:2", "key b"}}};
  return file;
}

TEST(RoundPlanTest, RowsInTheOrderOfTheNodesFollowEachOther) {
  const std::vector<Box> rows = {box(0, 0, 1, 6), box(1, 0, 2, 6), box(3, 0, 0, 6), box(3, 0, 1, 6)};
  const RoundPlan plan = round_plan(ranks_file(rows, 1)).value();
  ASSERT_TRUE(plan.places[0]);
  EXPECT_EQ(plan.places[0]->first, 18u);
  EXPECT_FALSE(plan.places[0]->in_boxes);
  EXPECT_FALSE(plan.in_boxes[0]);
  EXPECT_TRUE(plan.has_results[0]);
}

TEST(RoundPlanTest, BoxesAndRowsInAnotherOrderAreCounted) {
  const std::vector<std::vector<Box>> spreads = {
      {box(0, 0, 2, 3), box(2, 0, 2, 3), box(0, 3, 2, 3), box(2, 3, 2, 3)},  // each node has half of each row
      {box(2, 0, 1, 6), box(3, 0, 1, 6), box(0, 0, 1, 6), box(1, 0, 1, 6)},  // the last rows are on the first node
  };
  for (const std::vector<Box>& boxes : spreads) {
    for (const std::uint32_t node : {0u, 1u}) {
      const RoundPlan plan = round_plan(ranks_file(boxes, node)).value();
      ASSERT_TRUE(plan.places[0]);
      EXPECT_EQ(plan.places[0]->first, node * 12u);
      EXPECT_TRUE(plan.places[0]->in_boxes);
      EXPECT_TRUE(plan.in_boxes[0]);
      EXPECT_TRUE(plan.has_results[0]);
    }
  }
}

TEST(RoundPlanTest, TheWholeMayHaveMoreBytesThanARingTakes) {
  constexpr std::uint64_t kRows = std::uint64_t{1} << 31;
  RanksFile file = ranks_file({box(0, 0, 1, 6), box(1, 0, 1, 6), box(2, 0, 1, 6), box(3, 0, kRows - 3, 6)}, 0);
  file.variables[0].shape = {kRows, 6};
  const RoundPlan plan = round_plan(file).value();
  EXPECT_EQ(plan.whole.place(0).entries, kRows * 6);
  EXPECT_GT(plan.whole.place(0).bytes, kMostPayloadBytes);
}

TEST(RoundPlanTest, StatesHaveNoResults) {
  RanksFile file = ranks_file({box(0, 0, 2, 3), box(2, 0, 2, 3), box(0, 3, 2, 3), box(2, 3, 2, 3)}, 0);
  file.variables[0].role = Role::kState;
  const RoundPlan plan = round_plan(file).value();
  EXPECT_FALSE(plan.places[0]);
  EXPECT_FALSE(plan.has_results[0]);
  EXPECT_FALSE(plan.in_boxes[0]);
}

}  // namespace
}  // namespace ringside
