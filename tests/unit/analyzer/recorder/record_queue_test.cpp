// SPDX-License-Identifier: BSD-3-Clause
// The queue between the analyzer's main thread and the recorder's: order, fullness, and two threads at once.
#include "analyzer/recorder/record_queue.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <variant>

namespace ringside {
namespace {

StepFigures step(std::uint64_t number) {
  StepFigures figures;
  figures.run_id = {1, 2};
  figures.step.step = number;
  return figures;
}

wire::Record event(std::uint64_t seq) {
  wire::Record record;
  record.set_seq(seq);
  return record;
}

TEST(RecordQueue, GivesBackWhatWasPushedInOrder) {
  RecordQueue queue;
  queue.push_event(event(100));
  queue.push(step(0));
  queue.push(step(1));
  queue.push_event(event(101));
  queue.push_event(event(102));
  queue.push(step(2));
  std::vector<QueuedItem> items;
  queue.pop(items, 100);
  ASSERT_EQ(items.size(), 6u);
  EXPECT_EQ(std::get<wire::Record>(items[0]).seq(), 100u);
  EXPECT_EQ(std::get<StepFigures>(items[1]).step.step, 0u);
  EXPECT_EQ(std::get<StepFigures>(items[2]).step.step, 1u);
  EXPECT_EQ(std::get<wire::Record>(items[3]).seq(), 101u);
  EXPECT_EQ(std::get<wire::Record>(items[4]).seq(), 102u);
  EXPECT_EQ(std::get<StepFigures>(items[5]).step.step, 2u);
}

TEST(RecordQueue, AnEventWaitsForTheStepsBeforeIt) {
  RecordQueue queue;
  queue.push(step(0));
  queue.push(step(1));
  queue.push_event(event(7));
  std::vector<QueuedItem> items;
  queue.pop(items, 1);
  ASSERT_EQ(items.size(), 1u);
  queue.pop(items, 1);
  ASSERT_EQ(items.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<wire::Record>(items[2]));
}

TEST(RecordQueue, SaysWhichStepsFoundNoRoomBeforeTheNextThatDoes) {
  RecordQueue queue;
  for (std::uint64_t i = 0; i < RecordQueue::kCapacity; ++i) ASSERT_TRUE(queue.push(step(i)));
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_FALSE(queue.push(step(RecordQueue::kCapacity + i)));
  std::vector<QueuedItem> items;
  queue.pop(items, RecordQueue::kCapacity);
  EXPECT_EQ(items.size(), RecordQueue::kCapacity) << "the missing ones come with what follows them";
  EXPECT_TRUE(queue.push(step(RecordQueue::kCapacity + 5)));
  items.clear();
  queue.pop(items, 10);
  ASSERT_EQ(items.size(), 2u);
  const auto& missing = std::get<MissingSteps>(items[0]);
  EXPECT_EQ(missing.first_step, RecordQueue::kCapacity);
  EXPECT_EQ(missing.steps, 5u);
  EXPECT_EQ(missing.run_id, (Id128{1, 2}));
}

TEST(RecordQueue, AnEventAlsoSaysWhatIsMissingBeforeIt) {
  RecordQueue queue;
  for (std::uint64_t i = 0; i <= RecordQueue::kCapacity; ++i) queue.push(step(i));
  queue.push_event(event(1));
  std::vector<QueuedItem> items;
  queue.pop(items, RecordQueue::kCapacity);
  ASSERT_EQ(items.size(), RecordQueue::kCapacity + 2);
  EXPECT_EQ(std::get<MissingSteps>(items[RecordQueue::kCapacity]).steps, 1u);
  EXPECT_TRUE(std::holds_alternative<wire::Record>(items.back()));
}

TEST(RecordQueue, LosesNothingUncountedBetweenTwoThreads) {
  RecordQueue queue;
  constexpr std::uint64_t kSteps = 200'000;
  std::thread writer([&queue] {
    for (std::uint64_t i = 0; i < kSteps; ++i) {
      if (i % 1000 == 0) queue.push_event(event(i));
      queue.push(step(i));
    }
    queue.push_event(event(kSteps));
  });
  std::uint64_t next = 0;
  bool over = false;
  std::vector<QueuedItem> items;
  while (!over) {
    items.clear();
    queue.pop(items, 777);
    for (const QueuedItem& item : items) {
      if (const auto* figures = std::get_if<StepFigures>(&item)) {
        ASSERT_EQ(figures->step.step, next++);
      } else if (const auto* missing = std::get_if<MissingSteps>(&item)) {
        ASSERT_EQ(missing->first_step, next);
        next += missing->steps;
      } else {
        ASSERT_EQ(std::get<wire::Record>(item).seq(), next) << "an event lies between the steps it was pushed between";
        over = next == kSteps;
      }
    }
  }
  writer.join();
  EXPECT_EQ(next, kSteps);
}

}  // namespace
}  // namespace ringside
