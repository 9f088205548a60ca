// SPDX-License-Identifier: BSD-3-Clause
#include "node/scale/draws.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ringside {
namespace {

TEST(DrawsTest, OnePieceOfWorkHasTheMeanAndTheDeviationThatWereAskedFor) {
  const Draws draws(7);
  constexpr int kCount = 100'000;
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double seconds = draws.longest(Work::kGenerate, 3, i, 2, 0.25, 1);
    EXPECT_GE(seconds, 2 * 0.75);
    sum += seconds;
    squares += seconds * seconds;
  }
  const double mean = sum / kCount;
  EXPECT_NEAR(mean, 2, 0.01);
  EXPECT_NEAR(std::sqrt(squares / kCount - mean * mean), 0.5, 0.01);
}

TEST(DrawsTest, TheLongestOfSeveralHasTheMeanOfTheHarmonicSum) {
  const Draws draws(7);
  constexpr int kCount = 100'000;
  double sum = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) sum += draws.longest(Work::kGenerate, 3, i, 1, 0.1, 4);
  EXPECT_NEAR(sum / kCount, 0.9 + 0.1 * (1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4), 0.002);
}

TEST(DrawsTest, ADrawDependsOnWhatItIsFor) {
  const Draws draws(7);
  const auto draw = [](const Draws& from, Work work, std::uint32_t node, std::uint64_t number) {
    return from.longest(work, node, number, 1, 0.1, 1);
  };
  const double one = draw(draws, Work::kTransfer, 5, 9);
  EXPECT_EQ(draw(draws, Work::kTransfer, 5, 9), one);
  EXPECT_NE(draw(draws, Work::kAnalyze, 5, 9), one);
  EXPECT_NE(draw(draws, Work::kTransfer, 6, 9), one);
  EXPECT_NE(draw(draws, Work::kTransfer, 5, 10), one);
  EXPECT_NE(draw(Draws(8), Work::kTransfer, 5, 9), one);
}

}  // namespace
}  // namespace ringside
