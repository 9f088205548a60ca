// SPDX-License-Identifier: BSD-3-Clause
// When a wait lends its cores. The waits run in one thread: the coordination itself increases the peer's counter, in a
// spin or in a sleep.
#include "common/handoff/coordination.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "common/platform/clock.hpp"

namespace ringside {
namespace {

constexpr std::int64_t kHourNs = 3'600'000'000'000;

class ScriptedCoordination final : public Coordination {
 public:
  ScriptedCoordination(const std::atomic<std::uint64_t>& own, std::atomic<std::uint64_t>& other,
                       CoreBorrower cores) noexcept
      : Coordination(own, other), counter_(other), cores_(cores) {}

  void announce() noexcept override {}
  std::uint64_t seen() noexcept override { return other_.load(); }

  int sleeps = 0;
  bool lent_in_sleep = false;
  bool lent_in_spin = false;
  int last_spin = 0;  // the number of the check of a spin that increases the counter; 0: none does

 private:
  std::uint64_t seen_at_last() noexcept override { return seen(); }
  void sleep(std::uint64_t, std::int64_t) noexcept override {
    ++sleeps;
    lent_in_sleep = cores_.lent();
    counter_.store(1);
  }
  void relax() noexcept override {
    lent_in_spin |= cores_.lent();
    if (++spins_ == last_spin) counter_.store(1);
  }

  std::atomic<std::uint64_t>& counter_;
  CoreBorrower cores_;
  int spins_ = 0;
};

class CoordinationTest : public ::testing::Test {
 protected:
  void wait(WaitLimits limits) {
    limits.timeout_ns = kNever;
    limits.lender = &lender_;
    EXPECT_EQ(coordination_.wait_until(1, Peer(), limits), WaitResult::kReached);
    EXPECT_FALSE(coordination_.lent_in_spin);
    EXPECT_EQ(shared_.until.load(), 0u) << "nothing is lent after a wait";
  }

  LentCores shared_;
  CoreLender lender_{shared_, {1}};
  std::atomic<std::uint64_t> own_{0};
  std::atomic<std::uint64_t> other_{0};
  CoreBorrower cores_{shared_, other_};
  ScriptedCoordination coordination_{own_, other_, cores_};
};

TEST_F(CoordinationTest, AWaitThatEndsInItsSpinLendsNoCore) {
  coordination_.last_spin = 100;
  wait({.spin_ns = kHourNs});
  EXPECT_EQ(coordination_.sleeps, 0);
  EXPECT_EQ(cores_.bell(), 0u);
}

TEST_F(CoordinationTest, AfterItsSpinAWaitLendsTheCoresAndSleeps) {
  wait({.spin_ns = 1000});
  EXPECT_EQ(coordination_.sleeps, 1);
  EXPECT_TRUE(coordination_.lent_in_sleep);
  EXPECT_EQ(cores_.bell(), 1u);
}

TEST_F(CoordinationTest, WithoutASpinTheCoresAreLentAtOnce) {
  wait({.spin_ns = 0});
  EXPECT_EQ(coordination_.sleeps, 1);
  EXPECT_TRUE(coordination_.lent_in_sleep);
}

TEST_F(CoordinationTest, ASleepBeforeTheSpinLendsNoCore) {
  wait({.spin_ns = 1000, .not_before_ns = now_ns() + kHourNs});
  EXPECT_EQ(coordination_.sleeps, 1);
  EXPECT_FALSE(coordination_.lent_in_sleep);
  EXPECT_EQ(cores_.bell(), 0u);
}

TEST_F(CoordinationTest, WhatNeedsNoWaitLendsNoCore) {
  other_ = 1;
  wait({.spin_ns = 0});
  EXPECT_EQ(coordination_.sleeps, 0);
  EXPECT_EQ(cores_.bell(), 0u);
}

}  // namespace
}  // namespace ringside
