// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/core_list.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

TEST(CoreList, ReadsNumbersAndRangesInAnyOrderEachOnce) {
  EXPECT_EQ(parse_core_list("0-3,8,10-11", "--x").cpus, (std::vector<int>{0, 1, 2, 3, 8, 10, 11}));
  EXPECT_EQ(parse_core_list("5,1,1-2,5", "--x").cpus, (std::vector<int>{1, 2, 5}));
  EXPECT_EQ(parse_core_list("7", "--x").cpus, (std::vector<int>{7}));
}

TEST(CoreList, TextReadsBackAsTheSameList) {
  for (const char* text : {"0", "0-3,8,10-11", "1,3,5", "0-1", "65535"}) {
    EXPECT_EQ(to_string(parse_core_list(text, "--x")), text);
  }
  EXPECT_EQ(to_string(CoreList{}), "none");
}

TEST(CoreList, RefusesWhatItCannotReadNamingOptionAndPiece) {
  for (const char* text : {"", ",", "1,", "a", "1-", "-1", "1-2-3", "1 2", "0x1", "99999999999", "65536", "1;2"}) {
    const auto parse = [&] { parse_core_list(text, "--producer-cores"); };
    expect_refused(parse, "--producer-cores: found '");
    expect_refused(parse, "expected a list of core numbers from 0 to 65535");
  }
  expect_refused([] { parse_core_list("0,b-2", "--x"); }, "'b-2'");
  expect_refused([] { parse_core_list("4-2", "--x"); }, "found the range '4-2'");
}

}  // namespace
}  // namespace ringside
