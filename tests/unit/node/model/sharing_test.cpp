// SPDX-License-Identifier: BSD-3-Clause
#include "node/model/sharing.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ringside {
namespace {

TEST(SharesTest, GroupsThatWantMoreThanThereIsShareItEqually) {
  const std::array groups = {Demand{3, 50}, Demand{1, 50}};
  const std::vector<double> share = shares(100, groups);
  EXPECT_DOUBLE_EQ(share[0], 25);
  EXPECT_DOUBLE_EQ(share[1], 25);
}

TEST(SharesTest, WhatAModestGroupLeavesGoesToTheOthers) {
  const std::array groups = {Demand{2, 5}, Demand{2, 80}};
  const std::vector<double> share = shares(100, groups);
  EXPECT_DOUBLE_EQ(share[1], 45);  // (100 - 2 * 5) / 2
  EXPECT_DOUBLE_EQ(share[0], 25);  // it could have got an equal share
}

TEST(SharesTest, AGroupAloneHasAllChannelsForItsThreads) {
  const std::array groups = {Demand{4, 90}, Demand{0, 0}};
  EXPECT_DOUBLE_EQ(shares(100, groups)[0], 25);
}

TEST(SharesTest, ProportionalSharesIgnoreWhatOthersLeave) {
  const std::array groups = {Demand{2, 5}, Demand{2, 80}};
  EXPECT_DOUBLE_EQ(shares(100, groups, Sharing::kProportional)[1], 25);
}

}  // namespace
}  // namespace ringside
