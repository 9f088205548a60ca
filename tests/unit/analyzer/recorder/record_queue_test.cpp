// SPDX-License-Identifier: BSD-3-Clause
// The queue between the analyzer's main thread and the recorder's thread: the order of items, a full queue, and two
// threads at the same time.
#include "analyzer/recorder/record_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <variant>
#include <vector>

#include "common/platform/futex.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kNoPatience = 0;  // shows the effects of a reader that does not take items

struct Step {
  StepFigures figures;
  std::vector<std::uint64_t> values;
  StepMarks marks;
};
using Item = std::variant<Step, MissingSteps, wire::Record>;

/// Keeps the items that it takes.
struct Items : RecordSink {
  void take(const StepFigures& figures, std::span<const std::uint64_t> values, const StepMarks& marks) override {
    all.emplace_back(Step{figures, {values.begin(), values.end()}, marks});
  }
  void take(const MissingSteps& missing) override { all.emplace_back(missing); }
  void take(wire::Record event) override { all.emplace_back(std::move(event)); }

  std::vector<Item> all;
};

std::vector<Item> popped(RecordQueue& queue, std::size_t at_most = RecordQueue::kMostCapacity) {
  Items items;
  queue.pop(items, at_most);
  return std::move(items.all);
}

std::uint64_t step_of_item(const Item& item) {
  return std::get<Step>(item).figures.step.step;
}

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

TEST(RecordQueue, AStepsMarksComeWithIt) {
  RecordQueue queue;
  queue.push(step(0), {}, {.fired = 5, .non_finite = 7});
  queue.push(step(1), {});
  const std::vector<Item> items = popped(queue);
  EXPECT_EQ(std::get<Step>(items.at(0)).marks.fired, 5u);
  EXPECT_EQ(std::get<Step>(items.at(0)).marks.non_finite, 7u);
  EXPECT_FALSE(std::get<Step>(items.at(1)).marks.any());
}

TEST(RecordQueue, GivesBackWhatWasPushedInOrder) {
  RecordQueue queue;
  queue.push_event(event(100));
  queue.push(step(0), {});
  queue.push(step(1), {});
  queue.push_event(event(101));
  queue.push_event(event(102));
  queue.push(step(2), {});
  std::vector<Item> items = popped(queue, 100);
  ASSERT_EQ(items.size(), 6u);
  EXPECT_EQ(std::get<wire::Record>(items[0]).seq(), 100u);
  EXPECT_EQ(step_of_item(items[1]), 0u);
  EXPECT_EQ(step_of_item(items[2]), 1u);
  EXPECT_EQ(std::get<wire::Record>(items[3]).seq(), 101u);
  EXPECT_EQ(std::get<wire::Record>(items[4]).seq(), 102u);
  EXPECT_EQ(step_of_item(items[5]), 2u);
}

TEST(RecordQueue, AnEventWaitsForTheStepsBeforeIt) {
  RecordQueue queue;
  queue.push(step(0), {});
  queue.push(step(1), {});
  queue.push_event(event(7));
  std::vector<Item> items = popped(queue, 1);
  ASSERT_EQ(items.size(), 1u);
  items = popped(queue, 1);
  ASSERT_EQ(items.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<wire::Record>(items[1]));
}

TEST(RecordQueue, SaysWhichStepsFoundNoRoomBeforeTheNextThatDoes) {
  RecordQueue queue(kNoPatience);
  for (std::uint64_t i = 0; i < RecordQueue::kMostCapacity; ++i) ASSERT_TRUE(queue.push(step(i), {}));
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_FALSE(queue.push(step(RecordQueue::kMostCapacity + i), {}));
  std::vector<Item> items = popped(queue, RecordQueue::kMostCapacity);
  EXPECT_EQ(items.size(), RecordQueue::kMostCapacity) << "the missing ones come with what follows them";
  EXPECT_TRUE(queue.push(step(RecordQueue::kMostCapacity + 5), {}));
  items = popped(queue, 10);
  ASSERT_EQ(items.size(), 2u);
  const auto& missing = std::get<MissingSteps>(items[0]);
  EXPECT_EQ(missing.first_step, RecordQueue::kMostCapacity);
  EXPECT_EQ(missing.steps, 5u);
  EXPECT_EQ(missing.run_id, (Id128{1, 2}));
}

TEST(RecordQueue, AnEventAlsoSaysWhatIsMissingBeforeIt) {
  RecordQueue queue(kNoPatience);
  for (std::uint64_t i = 0; i <= RecordQueue::kMostCapacity; ++i) queue.push(step(i), {});
  queue.push_event(event(1));
  std::vector<Item> items = popped(queue, RecordQueue::kMostCapacity);
  ASSERT_EQ(items.size(), RecordQueue::kMostCapacity + 2);
  EXPECT_EQ(std::get<MissingSteps>(items[RecordQueue::kMostCapacity]).steps, 1u);
  EXPECT_TRUE(std::holds_alternative<wire::Record>(items.back()));
}

TEST(RecordQueue, AWriterThatIsFasterThanItsReaderWaitsAndEveryStepArrives) {
  RecordQueue queue;
  queue.begin_run(2);
  constexpr std::uint64_t kSteps = 200'000;
  std::thread writer([&queue] {
    for (std::uint64_t i = 0; i < kSteps; ++i) {
      if (i % 1000 == 0) queue.push_event(event(i));
      EXPECT_TRUE(queue.push(step(i), std::vector{i, ~i}));
    }
    queue.push_event(event(kSteps));
  });
  std::uint64_t next = 0;
  for (bool over = false; !over;) {
    const std::uint32_t calls = queue.calls();
    const std::vector<Item> items = popped(queue, 777);
    for (const Item& item : items) {
      if (const auto* taken = std::get_if<Step>(&item)) {
        ASSERT_EQ(taken->figures.step.step, next);
        ASSERT_EQ(taken->values, (std::vector{next, ~next}));
        ++next;
      } else {
        ASSERT_TRUE(std::holds_alternative<wire::Record>(item)) << "a step without a record";
        ASSERT_EQ(std::get<wire::Record>(item).seq(), next) << "an event lies between the steps it was pushed between";
        over = next == kSteps;
      }
    }
    // Like the recorder, the reader sleeps while the writer continues. The writer fills the queue and wakes the reader.
    if (items.empty()) queue.sleep(calls, 1'000'000);
  }
  writer.join();
  EXPECT_EQ(next, kSteps);
}

TEST(RecordQueue, AReaderThatStandsStillIsWaitedForOnce) {
  RecordQueue queue(1'000'000);
  for (std::uint64_t i = 0; i < RecordQueue::kMostCapacity; ++i) ASSERT_TRUE(queue.push(step(i), {}));
  const std::uint32_t before = queue.calls();
  EXPECT_FALSE(queue.push(step(RecordQueue::kMostCapacity), {}));
  const std::uint32_t calls = queue.calls();
  EXPECT_GT(calls, before) << "the reader is woken";
  for (std::uint64_t i = 1; i < 100; ++i) EXPECT_FALSE(queue.push(step(RecordQueue::kMostCapacity + i), {}));
  EXPECT_EQ(queue.calls(), calls) << "nobody waits for a reader that has not moved since";
}

TEST(RecordQueue, AReaderThatOnlyWaitsForACoreIsWaitedForLonger) {
  RecordQueue queue(0);
  std::atomic<bool> reads{false};
  std::thread reader([&] {
    queue.begin_reading();
    const std::uint32_t before = queue.calls();
    reads.store(true);
    reads.notify_one();
    // This thread runs while the full queue calls it. (Three calls come before the queue is full.)
    while (queue.calls() < before + 6) {
    }
    popped(queue, 1);
  });
  reads.wait(false);
  for (std::uint64_t i = 0; i < RecordQueue::kMostCapacity; ++i) ASSERT_TRUE(queue.push(step(i), {}));
  EXPECT_TRUE(queue.push(step(RecordQueue::kMostCapacity), {}));
  reader.join();
}

TEST(RecordQueue, AReaderThatSleepsIsNotWaitedForLonger) {
  RecordQueue queue(0);
  std::atomic<std::uint32_t> over{0};
  std::atomic<bool> reads{false};
  std::thread reader([&] {
    queue.begin_reading();
    reads.store(true);
    reads.notify_one();
    futex_sleep(&over, 0, RecordQueue::kBusyPatienceNs);
  });
  reads.wait(false);
  // A thread that has not gone to sleep yet is waited for, so the writer tries until one step finds no room.
  for (std::uint64_t i = 0; i < RecordQueue::kMostCapacity; ++i) ASSERT_TRUE(queue.push(step(i), {}));
  EXPECT_FALSE(queue.push(step(RecordQueue::kMostCapacity), {}));
  over.store(1);
  futex_wake(&over, 1);
  reader.join();
}

TEST(RecordQueue, ThereAreAsManyCellsAsThirtyTwoMebibytesOfValuesFillButSixtyFourAtLeast) {
  EXPECT_EQ(RecordQueue::capacity_for(0), 8192u);
  EXPECT_EQ(RecordQueue::capacity_for(14), 8192u);
  EXPECT_EQ(RecordQueue::capacity_for(512), 8192u);
  EXPECT_EQ(RecordQueue::capacity_for(513), 8176u);
  EXPECT_EQ(RecordQueue::capacity_for(4 * 1024), 1024u);
  EXPECT_EQ(RecordQueue::capacity_for(std::size_t{1} << 20), 64u);
}

TEST(RecordQueue, EachStepHasItsOwnValuesInRunsOfDifferentWidths) {
  RecordQueue queue;
  std::uint64_t number = 0;
  for (const std::size_t words : {3u, 70'000u, 1u}) {
    queue.begin_run(words);
    ASSERT_EQ(queue.capacity(), RecordQueue::capacity_for(words));
    for (int round = 0; round < 3; ++round) {
      const std::uint64_t first = number;
      const std::size_t steps = queue.capacity() - 1;  // the next round begins at another cell
      for (std::size_t i = 0; i < steps; ++i, ++number) {
        ASSERT_TRUE(queue.push(step(number), std::vector<std::uint64_t>(words, number)));
      }
      const std::vector<Item> items = popped(queue);
      ASSERT_EQ(items.size(), steps);
      for (std::size_t i = 0; i < steps; ++i) {
        ASSERT_EQ(step_of_item(items[i]), first + i);
        ASSERT_EQ(std::get<Step>(items[i]).values, std::vector<std::uint64_t>(words, first + i));
      }
    }
  }
}

TEST(RecordQueue, ACellIsFreeAgainAsSoonAsItsStepIsTaken) {
  RecordQueue queue(kNoPatience);
  queue.begin_run(1 << 20);
  for (std::uint64_t i = 0; i < 64; ++i) ASSERT_TRUE(queue.push(step(i), std::vector<std::uint64_t>(1 << 20)));
  EXPECT_FALSE(queue.push(step(64), std::vector<std::uint64_t>(1 << 20)));
  EXPECT_EQ(popped(queue, 1).size(), 1u);
  EXPECT_TRUE(queue.push(step(65), std::vector<std::uint64_t>(1 << 20)));
}

TEST(RecordQueue, NoRunBeginsBeforeTheStepsOfTheLastOneAreTaken) {
  RecordQueue queue;
  queue.begin_run(1);
  queue.push(step(0), std::vector<std::uint64_t>(1));
  EXPECT_THROW(queue.begin_run(2), std::logic_error);
  popped(queue);
  queue.begin_run(2);
}

}  // namespace
}  // namespace ringside
