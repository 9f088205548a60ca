// SPDX-License-Identifier: BSD-3-Clause
// The rule that finds drops of speed, with series like those that the thesis describes.
#include "node/workloads/speed_drops.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

/// A thread with these rates. Each repeat moves one GB.
ThreadRates thread_with(const std::vector<double>& gb_s) {
  ThreadRates thread;
  double now = 0;
  for (const double rate : gb_s) {
    now += 1 / rate;
    thread.gb_s.push_back(rate);
    thread.seconds.push_back(1 / rate);
    thread.end_s.push_back(now);
  }
  return thread;
}

std::vector<double> with(std::vector<double> rates, std::size_t first, std::size_t count, double rate) {
  for (std::size_t i = first; i < first + count; ++i) rates[i] = rate;
  return rates;
}

TEST(SpeedDrops, ThePublishedDropsOfWritersAreFound) {
  // The rates of threads near 3000 MB/s drop to 1700, those of threads near 3800 MB/s to 1900.
  const auto found = find_speed_drops(
      {thread_with(with(std::vector(60, 3.0), 20, 4, 1.7)), thread_with(with(std::vector(80, 3.8), 50, 3, 1.9))}, 5);
  ASSERT_EQ(found[0].drops.size(), 1U);
  EXPECT_EQ(found[0].drops[0].first, 20U);
  EXPECT_EQ(found[0].drops[0].repeats, 4U);
  EXPECT_NEAR(found[0].drops[0].depth, 0.57, 0.005);
  EXPECT_NEAR(found[0].drops[0].end_s - found[0].drops[0].begin_s, 4 / 1.7, 1e-9);
  ASSERT_EQ(found[1].drops.size(), 1U);
  EXPECT_NEAR(found[1].drops[0].depth, 0.5, 1e-9);
}

TEST(SpeedDrops, ThePublishedUnsteadyReaderHasNone) {
  // A drop from 3600 to 3000 MB/s is 0.83 of the level; from 3800 MB/s, it would be 0.79.
  for (const double level : {3.6, 3.8}) {
    const auto found = find_speed_drops({thread_with(with(std::vector(60, level), 20, 10, 3.0))}, 5);
    EXPECT_TRUE(found[0].drops.empty());
    EXPECT_NEAR(found[0].least, 3.0 / level, 1e-9);
  }
}

TEST(SpeedDrops, ASlowStartIsNoDrop) {
  EXPECT_TRUE(find_speed_drops({thread_with(with(std::vector(60, 3.0), 0, 5, 1.0))}, 5)[0].drops.empty());
}

TEST(SpeedDrops, WhatFollowsTheFirstThreadsEndIsNotLookedAt) {
  // The first thread ends after 10 s. Then the other thread becomes twice as fast, and later becomes slow once more.
  const ThreadRates early = thread_with(std::vector(40, 4.0));
  std::vector<double> rates = with(std::vector(60, 2.0), 20, 30, 4.0);
  rates[50] = 0.5;
  const auto found = find_speed_drops({early, thread_with(rates)}, 2);
  EXPECT_DOUBLE_EQ(found[1].level_gb_s, 2.0);
  EXPECT_TRUE(found[1].drops.empty());
}

TEST(SpeedDrops, DropsOfTwoThreadsAtOneTimeCoincide) {
  const auto rates = with(std::vector(60, 3.0), 20, 4, 1.5);
  const auto found =
      find_speed_drops({thread_with(rates), thread_with(rates), thread_with(with(rates, 20, 4, 3.0))}, 5);
  EXPECT_TRUE(found[0].drops.at(0).coincides);
  EXPECT_TRUE(found[1].drops.at(0).coincides);
  EXPECT_TRUE(found[2].drops.empty());
}

TEST(SpeedDrops, DropsAtDifferentTimesDoNotCoincide) {
  const auto found = find_speed_drops(
      {thread_with(with(std::vector(60, 3.0), 10, 2, 1.5)), thread_with(with(std::vector(60, 3.0), 30, 2, 1.5))}, 5);
  EXPECT_FALSE(found[0].drops.at(0).coincides);
  EXPECT_FALSE(found[1].drops.at(0).coincides);
}

TEST(SpeedDrops, TwoSlowPhasesAreTwoDrops) {
  const auto rates = with(with(std::vector(60, 3.0), 10, 2, 1.5), 30, 1, 1.0);
  const auto found = find_speed_drops({thread_with(rates)}, 5);
  ASSERT_EQ(found[0].drops.size(), 2U);
  EXPECT_NEAR(found[0].drops[1].depth, 1.0 / 3, 1e-9);
}

TEST(SpeedDrops, AThreadWithoutARepeatAfterTheStartHasNoLevel) {
  const auto found = find_speed_drops({thread_with({3.0, 3.0})}, 5);
  EXPECT_EQ(found[0].level_gb_s, 0);
  EXPECT_TRUE(found[0].drops.empty());
}

}  // namespace
}  // namespace ringside
