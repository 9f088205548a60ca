// SPDX-License-Identifier: BSD-3-Clause
#include "common/text/utf8_prefix.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ringside {
namespace {

TEST(Utf8Prefix, ATextThatFitsIsWhole) {
  EXPECT_EQ(utf8_prefix("", 0), "");
  EXPECT_EQ(utf8_prefix("abc", 3), "abc");
  EXPECT_EQ(utf8_prefix("\u20ac", 3), "\u20ac");
  EXPECT_EQ(utf8_prefix("abc", 100), "abc");
}

TEST(Utf8Prefix, ALongerTextEndsBetweenTwoCharacters) {
  const std::string text = "a\u00e9\u20ac\U0001F600z";  // of 1, 2, 3, 4 and 1 bytes
  const std::string expected[] = {"",    "a", "a", "a\u00e9", "a\u00e9", "a\u00e9", "a\u00e9\u20ac", "a\u00e9\u20ac",
                                  "a\u00e9\u20ac", "a\u00e9\u20ac", "a\u00e9\u20ac\U0001F600", text};
  for (std::size_t most = 0; most <= text.size(); ++most) EXPECT_EQ(utf8_prefix(text, most), expected[most]) << most;
}

TEST(Utf8Prefix, BytesThatAreNoUtf8AreCutAnywhere) {
  const std::string text(100, '\x80');
  EXPECT_EQ(utf8_prefix(text, 50).size(), 50u);
  EXPECT_EQ(utf8_prefix(text, 2).size(), 2u);
  EXPECT_EQ(utf8_prefix(text, 0).size(), 0u);
}

TEST(Utf8Prefix, AZeroByteIsAByteLikeAnyOther) {
  EXPECT_EQ(utf8_prefix(std::string("a\0b", 3), 2), std::string("a\0", 2));
}

}  // namespace
}  // namespace ringside
