// SPDX-License-Identifier: BSD-3-Clause
#include "node/scale/network.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(NetworkTest, AMessageTakesItsLatencyAndItsBytes) {
  const Network network{.alpha_s = 2, .bytes_s = 100};
  EXPECT_DOUBLE_EQ(network.message_s(50), 2.5);
}

TEST(NetworkTest, EachNetworkThatIsListedIsKnown) {
  EXPECT_TRUE(network_named("infiniband"));
  EXPECT_TRUE(network_named("tcp"));
  EXPECT_FALSE(network_named("ethernet"));
  EXPECT_EQ(names_of_networks(), "infiniband (1.2 us, 24 GB/s), tcp (25.4 us, 5 GB/s)");
}

TEST(NetworkTest, RoundsDoubleTheNodesThatTheyReach) {
  EXPECT_EQ(rounds_of(1), 0);
  EXPECT_EQ(rounds_of(2), 1);
  EXPECT_EQ(rounds_of(3), 2);
  EXPECT_EQ(rounds_of(4), 2);
  EXPECT_EQ(rounds_of(1024), 10);
  EXPECT_EQ(rounds_of(1025), 11);
}

}  // namespace
}  // namespace ringside
