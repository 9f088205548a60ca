// SPDX-License-Identifier: BSD-3-Clause
// A node's parts of steps: a part is found until it is freed. A part for which there is no room is lost; later parts
// are not.
#include "analyzer/whole_run/part_store.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

/// Stores the part of the next step. Returns false if there was no room.
bool store(PartStore& parts, std::uint64_t step) {
  PartStore::Part* const room = parts.room();
  if (room != nullptr) {
    room->words[0] = 100 + step;
  }
  parts.stored();
  return room != nullptr;
}

TEST(PartStoreTest, AStepIsFoundUntilItIsFreed) {
  PartStore parts(4);
  parts.begin(7);
  EXPECT_EQ(parts.find(7), nullptr);
  ASSERT_TRUE(store(parts, 7));
  ASSERT_TRUE(store(parts, 8));
  EXPECT_EQ(parts.end_step(), 9u);
  ASSERT_NE(parts.find(7), nullptr);
  EXPECT_EQ(parts.find(8)->words[0], 108u);
  EXPECT_EQ(parts.find(9), nullptr);
  parts.free_before(8);
  EXPECT_EQ(parts.find(7), nullptr);
  EXPECT_NE(parts.find(8), nullptr);
}

TEST(PartStoreTest, AStepWithoutRoomIsLostAndLaterOnesAreNot) {
  PartStore parts(1);
  const std::uint64_t capacity = parts.capacity();
  ASSERT_EQ(capacity, PartStore::kMost);
  for (std::uint64_t step = 0; step < capacity; ++step) ASSERT_TRUE(store(parts, step));
  EXPECT_FALSE(store(parts, capacity));
  EXPECT_EQ(parts.end_step(), capacity + 1);
  EXPECT_EQ(parts.find(capacity), nullptr);
  parts.free_before(capacity + 1);
  EXPECT_TRUE(store(parts, capacity + 1));
  EXPECT_EQ(parts.find(capacity + 1)->words[0], 100 + capacity + 1);
  EXPECT_EQ(parts.find(1), nullptr) << "it shares the cell";
}

TEST(PartStoreTest, LargePartsHaveRoomForAFewSteps) {
  EXPECT_EQ(PartStore(PartStore::kBytes / sizeof(std::uint64_t)).capacity(), PartStore::kFewest);
}

}  // namespace
}  // namespace ringside
