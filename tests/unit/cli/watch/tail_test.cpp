// SPDX-License-Identifier: BSD-3-Clause
// The parts of `ringside tail` that need no run. tests/pipeline/tail_test.cpp follows real runs.
#include "cli/watch/tail.hpp"

#include <gtest/gtest.h>

#include "common/platform/error.hpp"

namespace ringside {
namespace {

TEST(Since, IsANumberAnIterationOrHowLongAgo) {
  EXPECT_EQ(parse_since("17", 0).seq, 17u);
  EXPECT_EQ(parse_since("iteration=17", 0).iteration, 17u);
  EXPECT_EQ(parse_since("10m", 601'000'000'000).unix_ns, 1'000'000'000);
  EXPECT_EQ(parse_since("86400s", 86'401'000'000'000).unix_ns, 1'000'000'000);
  EXPECT_EQ(parse_since("36500d", 0).unix_ns, -3'153'600'000'000'000'000);
  for (const char* wrong : {"36501d", "99999999999999999s", "x", "m", "-3", "10y", "iteration=", "iteration=x", "1.5h",
                            "99999999999999999999d"}) {
    EXPECT_THROW(parse_since(wrong, 0), Error) << wrong;
  }
}

}  // namespace
}  // namespace ringside
