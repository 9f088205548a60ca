// SPDX-License-Identifier: BSD-3-Clause
// formatted() against fmt, whose results messages had before: a message must not change with the formatter.
#include "common/text/formatted.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {
namespace {

TEST(FormattedTest, WritesIntegersAsFmtDoes) {
  for (const std::int64_t value : {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min(),
                                   std::numeric_limits<std::int64_t>::max()}) {
    EXPECT_EQ(formatted("{}", value), fmt::format("{}", value));
  }
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{0xabcdef}, ~std::uint64_t{0}}) {
    EXPECT_EQ(formatted("{}", value), fmt::format("{}", value));
    EXPECT_EQ(formatted("{:x}", value), fmt::format("{:x}", value));
    EXPECT_EQ(formatted("{:#x}", value), fmt::format("{:#x}", value));
    EXPECT_EQ(formatted("{:02x}", value), fmt::format("{:02x}", value));
    EXPECT_EQ(formatted("{:016x}", value), fmt::format("{:016x}", value));
    EXPECT_EQ(formatted("{:#018x}", value), fmt::format("{:#018x}", value));
    EXPECT_EQ(formatted("{:o}", value), fmt::format("{:o}", value));
    EXPECT_EQ(formatted("{:04o}", value), fmt::format("{:04o}", value));
  }
  EXPECT_EQ(formatted("{}", static_cast<unsigned char>(65)), "65");
  EXPECT_EQ(formatted("{}{}", 'A', true), "Atrue");
}

TEST(FormattedTest, WritesDoublesAsFmtDoes) {
  std::vector<double> values = {0.0,  -0.0, 1.0,   30.0,  0.5,     1e-4,    9.9e-5, 1e15,
                                1e16, 1e17, 1e300, 1e-10, -2.5e-7, 1.0 / 3, 100000, 123456789.125};
  values.insert(values.end(), {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::max()});
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    values.push_back(std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 200) - 130));
  }
  for (const double value : values) EXPECT_EQ(formatted("{}", value), fmt::format("{}", value));
}

TEST(FormattedTest, WritesTextAndBraces) {
  const std::string text = "a {} b";
  EXPECT_EQ(formatted("{}: {} {{{}}}", text, std::string_view("c"), "d"), "a {} b: c {d}");
  EXPECT_EQ(formatted("nothing"), "nothing");
}

TEST(FormattedTest, JoinsARange) {
  EXPECT_EQ(joined(std::array{1, 2, 3}, ", "), "1, 2, 3");
  EXPECT_EQ(joined(std::vector<std::string>{"", "b"}, "|"), "|b");
  EXPECT_EQ(joined(std::vector<std::string>{}, "|"), "");
}

}  // namespace
}  // namespace ringside
