// SPDX-License-Identifier: BSD-3-Clause
// Which functions of a solver and of a sink the loop calls, and in which order.
#include "producer/solve_loop.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/unit/producer/counting_solver.hpp"

namespace ringside {
namespace {

using testing::Counting;

/// Records every call. Refuses a place for iteration `refused`, and sets `stop` when it takes iteration `stops_at`.
class Noting final : public IterateSink {
 public:
  std::string calls;
  std::uint64_t refused = 0;
  std::uint64_t stops_at = 0;
  std::atomic<bool>* stop = nullptr;
  SolveEnd end = SolveEnd::kIterationsDone;

  void* place(std::uint64_t k, bool due, const void* previous) noexcept override {
    calls += fmt::format("{}{} ", due ? "place" : "private", k);
    EXPECT_EQ(*static_cast<const double*>(previous), static_cast<double>(k - 1));
    return k == refused ? nullptr : &x_;
  }
  void take(const FinishedIterate& iterate) noexcept override {
    calls += fmt::format("take{} ", iterate.iteration);
    EXPECT_EQ(*static_cast<const double*>(iterate.payload), static_cast<double>(iterate.iteration));
    EXPECT_GE(iterate.generate_ns, 0);
    if (iterate.iteration == stops_at) *stop = true;
  }
  SolveEnd finish(const FinishedIterate& last, SolveEnd how) noexcept override {
    calls += fmt::format("finish{}", last.iteration);
    end = how;
    return how;
  }

 private:
  double x_ = 0;
};

class SolveLoop : public ::testing::Test {
 protected:
  SolveLoop() { options_.iterations = 3; }

  SolveEnd run(std::uint64_t after = 0) {
    sink_.stop = &stop_;
    convergence_ = ConvergenceCheck(options_.tolerance, 1);
    const double x = static_cast<double>(after);
    return solve({solver_, options_, &stop_, account_, convergence_}, {.iteration = after, .payload = &x}, sink_);
  }

  Counting solver_;
  SolveOptions options_;
  std::atomic<bool> stop_{false};
  ProducerAccount account_;
  ConvergenceCheck convergence_{0, 1};
  Noting sink_;
};

TEST_F(SolveLoop, EachIterateIsPlacedAndTakenAndTheLastOneFinished) {
  EXPECT_EQ(run(), SolveEnd::kIterationsDone);
  EXPECT_EQ(sink_.calls, "place1 take1 place2 take2 place3 take3 finish3");
  EXPECT_EQ(account_.iterations.load(), 3u);
  EXPECT_FALSE(account_.converged.load());
}

TEST_F(SolveLoop, OnlyEachEverythIterateAndTheLastOneAreDue) {
  options_.iterations = 5;
  options_.every = 2;
  EXPECT_EQ(run(), SolveEnd::kIterationsDone);
  EXPECT_EQ(sink_.calls, "private1 take1 place2 take2 private3 take3 place4 take4 place5 take5 finish5");
}

TEST_F(SolveLoop, ARunThatContinuesBeginsAfterTheKeptIteration) {
  EXPECT_EQ(run(1), SolveEnd::kIterationsDone);
  EXPECT_EQ(sink_.calls, "place2 take2 place3 take3 finish3");
}

TEST_F(SolveLoop, AnIterateThatMeetsTheToleranceIsTheLastOneAlthoughItIsNotDue) {
  options_.tolerance = 0.1;
  options_.iterations = 9;
  options_.every = 5;
  solver_.change = {1, 0.1};
  EXPECT_EQ(run(), SolveEnd::kConverged);
  EXPECT_EQ(sink_.calls, "private1 take1 private2 take2 finish2");
  EXPECT_TRUE(account_.converged.load());
}

TEST_F(SolveLoop, ADivergedIterateIsNeitherTakenNorFinished) {
  solver_.change = {1, INFINITY};
  EXPECT_EQ(run(), SolveEnd::kDiverged);
  EXPECT_EQ(sink_.calls, "place1 take1 place2 ");
  EXPECT_EQ(account_.iterations.load(), 2u);
}

TEST_F(SolveLoop, AnIterationThatBreaksDownMakesNoStepAndIsNotCounted) {
  solver_.breaks_down_in = 3;
  EXPECT_EQ(run(), SolveEnd::kBrokenDown);
  EXPECT_EQ(sink_.calls, "place1 take1 place2 take2 place3 ");
  EXPECT_EQ(account_.iterations.load(), 2u);
}

TEST_F(SolveLoop, AResumedRunWhoseFirstIterationBreaksDownCountsThoseBefore) {
  options_.iterations = 9;
  solver_.breaks_down_in = 6;
  EXPECT_EQ(run(5), SolveEnd::kBrokenDown);
  EXPECT_EQ(account_.iterations.load(), 5u);
}

TEST_F(SolveLoop, StopEndsTheRunAfterTheIterationAtHand) {
  sink_.stops_at = 2;
  EXPECT_EQ(run(), SolveEnd::kInterrupted);
  EXPECT_EQ(sink_.calls, "place1 take1 place2 take2 finish2");
}

TEST_F(SolveLoop, WithoutAPlaceTheRunEndsWithTheIterateBefore) {
  sink_.refused = 3;
  EXPECT_EQ(run(), SolveEnd::kInterrupted);
  EXPECT_EQ(sink_.calls, "place1 take1 place2 take2 place3 finish2");
  EXPECT_EQ(account_.iterations.load(), 2u);
}

}  // namespace
}  // namespace ringside
