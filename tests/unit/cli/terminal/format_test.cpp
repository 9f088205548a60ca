// SPDX-License-Identifier: BSD-3-Clause
#include "cli/terminal/format.hpp"

#include <gtest/gtest.h>

#include "common/json/json.hpp"

namespace ringside {
namespace {

TEST(FormatTest, SeparatorsComeEveryThreeDigits) {
  EXPECT_EQ(with_separators(0), "0");
  EXPECT_EQ(with_separators(999), "999");
  EXPECT_EQ(with_separators(1000), "1,000");
  EXPECT_EQ(with_separators(1234567890), "1,234,567,890");
}

TEST(FormatTest, MegabytesAreMillions) {
  EXPECT_EQ(megabytes(0), "0.0 MB");
  EXPECT_EQ(megabytes(12'345'678), "12.3 MB");
  EXPECT_EQ(megabytes(100'000), "0.1 MB");
  EXPECT_EQ(megabytes(24'400), "24.4 kB");
}

TEST(FormatTest, ANounHasItsPlural) {
  EXPECT_EQ(counted(1, "pass"), "1 pass");
  EXPECT_EQ(counted(5, "pass"), "5 passes");
  EXPECT_EQ(counted(2000, "step"), "2,000 steps");
}

TEST(FormatTest, AShortRunHasItsTimesInMilliseconds) {
  EXPECT_EQ(run_time(0.0004, 12.0), "0.000 s");
  EXPECT_EQ(run_time(0.5641, 0.568), "564 ms");
  EXPECT_EQ(run_time(0.0004, 0.005), "0.400 ms");
}

TEST(FormatTest, AFigureThatIsNotThereIsZero) {
  const Json report = {{"iterations", 9}, {"load_s", 0.5}, {"slots", nullptr}, {"solver", "jacobi"}};
  EXPECT_EQ(number(report, "iterations"), 9.0);
  EXPECT_EQ(number(report, "load_s"), 0.5);
  for (const char* key : {"slots", "solver", "missing"}) EXPECT_EQ(number(report, key), 0.0) << key;
  EXPECT_EQ(number(Json(), "slots"), 0.0) << "null: nothing was reported at all";
}

}  // namespace
}  // namespace ringside
