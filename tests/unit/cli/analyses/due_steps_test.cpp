// SPDX-License-Identifier: BSD-3-Clause
// Compares the computed number of steps that an analysis missed with a count step by step.
#include "cli/analyses/due_steps.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ringside {
namespace {

TEST(DueStepsTest, AreThoseThatCountingOneByOneFinds) {
  for (std::uint64_t stride = 1; stride <= 6; ++stride) {
    for (std::uint64_t begin = 0; begin <= 20; ++begin) {
      for (std::uint64_t steps = 1; steps <= 15; ++steps) {
        for (std::uint64_t every = 1; every <= 9; ++every) {
          std::uint64_t counted = 0;
          for (std::uint64_t k = 1; k <= steps; ++k) counted += (begin + stride * k) % every == 0 ? 1u : 0u;
          EXPECT_EQ(due_steps({.commit_seq = 100, .iteration = begin},
                              {.commit_seq = 100 + steps, .iteration = begin + stride * steps}, every),
                    counted)
              << begin << " + " << stride << " * 1 to " << steps << ", every " << every;
        }
      }
    }
  }
}

TEST(DueStepsTest, NoneAreAfterTheLastOne) {
  EXPECT_EQ(due_steps({7, 7}, {7, 7}, 1), 0u);
  EXPECT_EQ(due_steps({8, 8}, {7, 7}, 1), 0u);
}

TEST(DueStepsTest, WhereTheIterationsAreNotEvenlySpacedTheLastOnesAreTakenToBeConsecutive) {
  EXPECT_EQ(due_steps({.commit_seq = 3, .iteration = 10}, {.commit_seq = 6, .iteration = 20}, 1), 3u);
  EXPECT_EQ(due_steps({.commit_seq = 3, .iteration = 10}, {.commit_seq = 6, .iteration = 20}, 19), 1u);
}

TEST(DueStepsTest, ManyStepsAndHugeDistancesAreCountedToo) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(due_steps({0, 0}, {.commit_seq = kMost, .iteration = kMost}, 1), kMost);
  EXPECT_EQ(due_steps({0, 0}, {.commit_seq = 1u << 20, .iteration = 1u << 20}, kMost), 0u);
  EXPECT_EQ(due_steps({0, 0}, {.commit_seq = 5, .iteration = 2}, 1), 5u) << "a journal may say anything";
}

}  // namespace
}  // namespace ringside
