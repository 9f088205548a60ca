// SPDX-License-Identifier: BSD-3-Clause
#include "common/text/utc_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ringside {
namespace {

TEST(UtcText, AnInstantIsWrittenToTheSecond) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_text(1'795'395'600'999'999'999), "2026-11-23T01:00:00Z");
}

TEST(UtcText, EveryNumberOfNanosecondsHasAText) {
  EXPECT_EQ(utc_text(std::numeric_limits<std::int64_t>::max()), "2262-04-11T23:47:16Z");
  EXPECT_EQ(utc_text(std::numeric_limits<std::int64_t>::min()), "1677-09-21T00:12:44Z");
}

}  // namespace
}  // namespace ringside
