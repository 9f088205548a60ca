// SPDX-License-Identifier: BSD-3-Clause
// Groups of threads that run at the same time: which threads run, how many repeats they make, and the error if a thread
// cannot run.
#include "node/streams/thread_groups.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include "tests/unit/allowed_cpus.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

TEST(ThreadGroups, EachThreadRepeatsAsOftenAsAskedOnItsCpu) {
  std::vector<int> repeats(3);
  std::vector<int> cpu(3, -1);
  const ThreadGroup group{some_cpus(3), {}, [&](int thread) {
                            ++repeats[static_cast<std::size_t>(thread)];
                            cpu[static_cast<std::size_t>(thread)] = sched_getcpu();
                          }};
  const GroupTimes times = run_group(group, {.repeats = 5});
  EXPECT_EQ(repeats, (std::vector<int>{5, 5, 5}));
  EXPECT_EQ(cpu, group.cpus);
  ASSERT_EQ(times.threads.size(), 3U);
  for (const ThreadTimes& thread : times.threads) EXPECT_EQ(thread.repeats(), 5U);
}

TEST(ThreadGroups, EveryThreadIsPreparedBeforeAnyRepeatBegins) {
  std::atomic<int> prepared{0};
  std::atomic<bool> early{false};
  const auto prepare = [&](int) { prepared.fetch_add(1); };
  const auto repeat = [&](int) {
    if (prepared.load() < 4) early.store(true);
  };
  const std::vector<ThreadGroup> groups = {{some_cpus(2), prepare, repeat}, {some_cpus(2), prepare, repeat}};
  const std::vector<GroupTimes> times = run_groups(groups, {.repeats = 2});
  EXPECT_FALSE(early.load());
  EXPECT_EQ(times.size(), 2U);
}

TEST(ThreadGroups, TogetherNoThreadBeginsARepeatBeforeAllEndedTheLast) {
  std::atomic<int> done{0};
  std::atomic<bool> ahead{false};
  std::vector<int> mine(2);
  const ThreadGroup group{some_cpus(2), {}, [&](int thread) {
                            const int repeat = mine[static_cast<std::size_t>(thread)]++;
                            if (done.load() < 2 * repeat) ahead.store(true);
                            done.fetch_add(1);
                          }};
  const GroupTimes times = run_group(group, {.pace = Repetitions::Pace::kTogether, .repeats = 20});
  EXPECT_FALSE(ahead.load());
  EXPECT_EQ(times.seconds().size(), 20U);
}

TEST(ThreadGroups, ThreadsThatAreDoneContinueUntilTheLastOneIs) {
  std::atomic<bool> quick_is_done{false};
  const ThreadGroup slow{some_cpus(1), {}, [&](int) {
                           while (!quick_is_done.load()) sched_yield();
                         }};
  std::atomic<int> count{0};
  const ThreadGroup quick{some_cpus(1), {}, [&](int) {
                            if (count.fetch_add(1) + 1 >= 10) quick_is_done.store(true);
                          }};
  const std::vector<ThreadGroup> groups = {slow, quick};
  const std::vector<GroupTimes> times = run_groups(groups, {.repeats = 3, .until_all_are_done = true});
  EXPECT_GE(times[0].threads[0].repeats(), 3U);
  EXPECT_GE(times[1].threads[0].repeats(), 10U);  // the slow thread waits for the fast one
}

TEST(ThreadGroups, TheBeginningIsReportedOnceBetweenPreparationsAndWork) {
  for (const Repetitions::Pace pace : {Repetitions::Pace::kFree, Repetitions::Pace::kTogether}) {
    std::atomic<int> prepared{0};
    std::atomic<int> begun{0};
    std::atomic<bool> early{false};
    const ThreadGroup group{some_cpus(2), [&](int) { prepared.fetch_add(1); },
                            [&](int) { early.store(early.load() || begun.load() != 1); }};
    (void)run_group(group, {.pace = pace, .repeats = 3, .begun = [&] {
                              early.store(prepared.load() != 2);
                              begun.fetch_add(1);
                            }});
    EXPECT_EQ(begun.load(), 1);
    EXPECT_FALSE(early.load());
  }
}

TEST(ThreadGroups, AFailedPreparationEndsTheRunBeforeAnyWork) {
  std::atomic<int> worked{0};
  const ThreadGroup group{some_cpus(2),
                          [](int thread) {
                            if (thread == 1) throw system_error("no memory for thread 1");
                          },
                          [&](int) { worked.fetch_add(1); }};
  EXPECT_EQ(failure_line([&] { (void)run_group(group, {}); }, ExitCode::kSystem), "no memory for thread 1");
  EXPECT_EQ(worked.load(), 0);
}

TEST(ThreadGroups, ACpuThatDoesNotExistIsRefusedWithExitCode3) {
  const ThreadGroup group{{1023}, {}, [](int) {}};
  expect_has(failure_line([&] { (void)run_group(group, {}); }, ExitCode::kSystem), {"cannot run a thread on CPU 1023"});
}

}  // namespace
}  // namespace ringside
