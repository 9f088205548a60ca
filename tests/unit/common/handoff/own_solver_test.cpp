// SPDX-License-Identifier: BSD-3-Clause
// What a solver experiences when its analyzer dies: the contract of a claim.
#include <gtest/gtest.h>

#include <type_traits>

#include "tests/unit/common/handoff/handoff_fixture.hpp"

namespace ringside {
namespace {

using namespace testing;

class OwnSolverTest : public HandoffFixture {};

TEST_F(OwnSolverTest, AClaimWithoutABufferIsFalseAndNothingCanBePublishedIntoIt) {
  static_assert(!std::is_convertible_v<Claim, bool>, "a claim is no number");
  HandoffOptions o = options();
  o.peer_timeout_s = 0.05;
  std::optional<Listener> listener(std::in_place, socket_path_);
  Attached ends = attach(*listener, o);
  ends.reader.reset();
  listener.reset();
  for (int i = 0; i < 2; ++i) {  // two buffers are free even without an analyzer
    const Claim claim = ends.writer->claim();
    EXPECT_TRUE(claim);
    EXPECT_NE(claim.x(), nullptr);
    ends.writer->publish({.iteration = static_cast<std::uint64_t>(i) + 1});
  }
  const Claim none = ends.writer->claim();
  EXPECT_FALSE(none);
  EXPECT_EQ(none.x(), nullptr);
  ends.writer->publish({.iteration = 3});
  EXPECT_EQ(ends.writer->published(), 2u);
}

}  // namespace
}  // namespace ringside
