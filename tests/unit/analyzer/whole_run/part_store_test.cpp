// SPDX-License-Identifier: BSD-3-Clause
// A node's parts of steps: a part is found until it is freed. A part for which there is no room is lost, unless it is
// the last one; later parts are not lost.
#include "analyzer/whole_run/part_store.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

/// Stores the part of the next step. Returns false if there was no room, so that it is in the reserved place.
bool store(PartStore& parts, std::uint64_t step) {
  parts.place().words[0] = 100 + step;
  parts.stored();
  return parts.end_step() == step + 1;
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
  EXPECT_EQ(parts.end_step(), capacity) << "it is not lost yet";
  EXPECT_EQ(parts.find(capacity), nullptr) << "it may still be overwritten";
  parts.free_before(capacity + 1);
  EXPECT_TRUE(store(parts, capacity + 1));
  EXPECT_EQ(parts.find(capacity), nullptr);
  EXPECT_EQ(parts.find(capacity + 1)->words[0], 100 + capacity + 1);
  EXPECT_EQ(parts.find(1), nullptr) << "it shares the cell";
}

TEST(PartStoreTest, TheLastStepIsStoredEvenWithoutRoom) {
  PartStore parts(1);
  const std::uint64_t capacity = parts.capacity();
  for (std::uint64_t step = 0; step < capacity; ++step) ASSERT_TRUE(store(parts, step));
  EXPECT_FALSE(store(parts, capacity));
  EXPECT_FALSE(store(parts, capacity + 1));
  EXPECT_EQ(parts.end_step(), capacity + 1) << "the step before is lost";
  parts.end();
  EXPECT_EQ(parts.end_step(), capacity + 2);
  EXPECT_EQ(parts.find(0)->words[0], 100u) << "earlier parts stay";
  EXPECT_EQ(parts.find(capacity), nullptr);
  ASSERT_NE(parts.find(capacity + 1), nullptr);
  EXPECT_EQ(parts.find(capacity + 1)->words[0], 100 + capacity + 1);
  parts.free_before(capacity + 2);
  EXPECT_EQ(parts.find(capacity + 1), nullptr);
  EXPECT_EQ(parts.find(0), nullptr);
}

TEST(PartStoreTest, AStepWhoseWordsAreWrittenButThatIsNotStoredTakesTheReservedPlace) {
  PartStore parts(1);
  const std::uint64_t capacity = parts.capacity();
  for (std::uint64_t step = 0; step <= capacity; ++step) store(parts, step);
  parts.place().words[0] = 0;
  parts.end();
  EXPECT_EQ(parts.end_step(), capacity + 1);
  EXPECT_EQ(parts.find(capacity), nullptr) << "its words are gone";
}

TEST(PartStoreTest, AStepWithoutAPartStoresTheOneInTheReservedPlace) {
  PartStore parts(1);
  const std::uint64_t capacity = parts.capacity();
  for (std::uint64_t step = 0; step <= capacity; ++step) store(parts, step);
  parts.stored();
  EXPECT_EQ(parts.end_step(), capacity + 2);
  parts.end();
  EXPECT_EQ(parts.end_step(), capacity + 2);
  EXPECT_NE(parts.find(capacity), nullptr);
  EXPECT_EQ(parts.find(capacity + 1), nullptr);
}

TEST(PartStoreTest, LargePartsHaveRoomForAFewSteps) {
  EXPECT_EQ(PartStore(PartStore::kBytes / sizeof(std::uint64_t)).capacity(), PartStore::kFewest);
}

}  // namespace
}  // namespace ringside
