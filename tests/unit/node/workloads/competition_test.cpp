// SPDX-License-Identifier: BSD-3-Clause
// Which repeats of a competition count, and the rate that is computed from them.
#include "node/workloads/competition.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

/// A thread whose repeats take these seconds, one after another.
ThreadTimes thread_of(const std::vector<double>& seconds) {
  ThreadTimes times;
  std::int64_t now = 0;
  for (const double s : seconds) {
    times.begin_ns.push_back(now);
    now += static_cast<std::int64_t>(s * 1e9);
    times.end_ns.push_back(now);
  }
  return times;
}

TEST(CountedRepeats, OfThePublished500TheFirst25AndTheLastThirdAreDropped) {
  const CountedRepeats counted = counted_repeats(500);
  EXPECT_EQ(counted.first, 25U);
  EXPECT_EQ(counted.last, 334U);
}

TEST(CountedRepeats, OfFewTheFirstQuarterAndTheLastThirdAreDropped) {
  EXPECT_EQ(counted_repeats(12).first, 3U);
  EXPECT_EQ(counted_repeats(12).last, 8U);
}

TEST(CountedRepeats, SomeRepeatAlwaysCounts) {
  for (std::size_t repeats = 1; repeats < 200; ++repeats) {
    EXPECT_LT(counted_repeats(repeats).first, counted_repeats(repeats).last) << repeats;
    EXPECT_LE(counted_repeats(repeats).last, repeats);
  }
}

TEST(RateOfGroup, TheThreadsRatesAreAddedUp) {
  // The threads take 0.5 s and 0.25 s per GB: 2 + 4 GB/s.
  const GroupRate rate = rate_of_group({{thread_of(std::vector(12, 0.5)), thread_of(std::vector(12, 0.25))}}, 1e9);
  EXPECT_NEAR(rate.gb_s.value, 6, 1e-9);
  EXPECT_NEAR(rate.gb_s.spread, 0, 1e-9);
  ASSERT_EQ(rate.thread_gb_s.size(), 2U);
  EXPECT_NEAR(rate.thread_gb_s[1], 4, 1e-9);
}

TEST(RateOfGroup, TheStartAndTheLastThirdDoNotCount) {
  std::vector<double> seconds(12, 0.5);
  seconds[0] = seconds[1] = seconds[2] = 50;                  // a slow start
  seconds[8] = seconds[9] = seconds[10] = seconds[11] = 0.1;  // the other threads have ended
  EXPECT_NEAR(rate_of_group({{thread_of(seconds)}}, 1e9).gb_s.value, 2, 1e-9);
}

TEST(RateOfGroup, ThePublishedEndTimesFollowFrom16BytesAnElement) {
  // 10 and 6 threads, 500 repeats of 125,000,000 doubles, from NVM to NVM: the ten threads, with 43,771 MB/s, end after
  // 228 s (published: 231 s), and the six threads, with 18,771 MB/s, after 320 s (published: 319 s).
  const double bytes = 125'000'000.0 * 16;
  EXPECT_NEAR(500 * bytes * 10 / 43'771.07e6, 228, 1);
  EXPECT_NEAR(500 * bytes * 6 / 18'771.08e6, 320, 1);
}

/// The windows of `repeats` repeats, counted from 1, as published: "1-20".
std::vector<std::string> named_windows(std::size_t repeats) {
  std::vector<std::string> names;
  for (const CountedRepeats& window : repeat_windows(repeats))
    names.push_back(fmt::format("{}-{}", window.first + 1, window.last));
  return names;
}

TEST(RepeatWindows, OfAHundredAndMoreTheyAreThePublishedOnes) {
  const std::vector<std::string> published = {"1-1", "1-20", "21-40", "41-60", "61-80", "81-100"};
  EXPECT_EQ(named_windows(100), published);
  EXPECT_EQ(named_windows(5000), published);
}

TEST(RepeatWindows, OfFewerTheyAreFifths) {
  EXPECT_EQ(named_windows(60), (std::vector<std::string>{"1-1", "1-12", "13-24", "25-36", "37-48", "49-60"}));
  EXPECT_EQ(named_windows(10), (std::vector<std::string>{"1-1", "1-2", "3-4", "5-6", "7-8", "9-10"}));
}

TEST(RepeatWindows, OfFifthsThatDifferByOneRepeatEachRepeatIsInOne) {
  EXPECT_EQ(named_windows(99), (std::vector<std::string>{"1-1", "1-19", "20-39", "40-59", "60-79", "80-99"}));
}

TEST(RepeatWindows, OfFewerThanTenRepeatsEachRepeatIsInOneWindow) {
  EXPECT_EQ(named_windows(9), (std::vector<std::string>{"1-1", "2-3", "4-5", "6-7", "8-9"}));
  EXPECT_EQ(named_windows(7), (std::vector<std::string>{"1-1", "2-2", "3-4", "5-5", "6-7"}));
  EXPECT_EQ(named_windows(3), (std::vector<std::string>{"1-1", "2-2", "3-3"}));
  EXPECT_EQ(named_windows(1), (std::vector<std::string>{"1-1"}));
}

TEST(RateInWindow, TheThreadsRatesInTheWindowAreAddedUp) {
  // One thread takes 1 s per GB, later 0.5 s; another thread always takes 0.25 s.
  const GroupTimes times{{thread_of({1, 1, 0.5, 0.5}), thread_of(std::vector(4, 0.25))}};
  EXPECT_NEAR(rate_in_window(times, 1e9, {0, 2}), 1 + 4, 1e-9);
  EXPECT_NEAR(rate_in_window(times, 1e9, {2, 4}), 2 + 4, 1e-9);
  EXPECT_NEAR(rate_in_window(times, 1e9, {1, 3}), 1 / 0.75 + 4, 1e-9);
}

TEST(RateOverTime, TheRatesOfAWindowAreThoseOfAllItsThreads) {
  // One thread copies 1 GB in each of four seconds; another thread copies 1 GB in the first two seconds.
  const ThreadRates steady{{1, 2, 3, 4}, {1, 1, 1, 1}, {1, 1, 1, 1}};
  const ThreadRates slow{{2}, {2}, {0.5}};
  const std::vector<ThreadRates> threads = {steady, slow};
  const auto rates = rate_over_time(threads, 1e9, 4);
  ASSERT_EQ(rates.size(), 4U);
  EXPECT_DOUBLE_EQ(rates[0].first, 0.5);
  EXPECT_NEAR(rates[0].second, 1.5, 1e-9);
  EXPECT_NEAR(rates[1].second, 1.5, 1e-9);
  EXPECT_NEAR(rates[3].second, 1, 1e-9);
}

}  // namespace
}  // namespace ringside
