// SPDX-License-Identifier: BSD-3-Clause
#include "memory/probe/replacement.hpp"

#include <gtest/gtest.h>

namespace ringside::probe {
namespace {

CacheSet filled(Replacement policy, std::mt19937_64& random) {
  CacheSet set(4, policy);
  for (std::uint64_t line = 0; line < 4; ++line) set.insert(line, false, random);
  return set;
}

TEST(CacheSet, LruKeepsALineThatWasUsedAgainAndFifoDoesNot) {
  std::mt19937_64 random(1);
  CacheSet lru = filled(Replacement::kLru, random);
  lru.use(0, false);
  EXPECT_EQ(lru.insert(9, false, random).line, 1U);
  CacheSet fifo = filled(Replacement::kFifo, random);
  fifo.use(0, false);
  EXPECT_EQ(fifo.insert(9, false, random).line, 0U);
}

TEST(CacheSet, TheTreeOfPlruPointsIntoTheOtherHalf) {
  std::mt19937_64 random(1);
  CacheSet plru = filled(Replacement::kPlru, random);
  plru.use(0, false);
  EXPECT_EQ(plru.insert(9, false, random).line, 2U);
}

TEST(CacheSet, AScanTakesFewLinesOfAnAdaptiveSet) {
  std::mt19937_64 random(1);
  int kept = 0;
  for (int scans = 0; scans < 32; ++scans) {
    CacheSet set = filled(Replacement::kAdaptive, random);
    for (std::uint64_t line = 0; line < 4; ++line) set.use(line, false);
    for (std::uint64_t scan = 100; scan < 116; ++scan) set.insert(scan, false, random);
    for (std::uint64_t line = 0; line < 4; ++line) kept += set.holds(line) ? 1 : 0;
  }
  EXPECT_GE(kept, 32 * 2);
}

TEST(CacheSet, AVictimTellsWhetherItWasWritten) {
  std::mt19937_64 random(1);
  CacheSet set = filled(Replacement::kLru, random);
  set.use(0, true);
  for (std::uint64_t line = 1; line < 4; ++line) set.use(line, false);
  const CacheSet::Victim victim = set.insert(9, false, random);
  EXPECT_EQ(victim.line, 0U);
  EXPECT_TRUE(victim.dirty);
}

}  // namespace
}  // namespace ringside::probe
