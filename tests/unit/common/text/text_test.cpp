// SPDX-License-Identifier: BSD-3-Clause
// How texts, numbers and times are printed, shortened and parsed.
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

#include "common/text/decimal.hpp"
#include "common/text/formatted.hpp"
#include "common/text/printable.hpp"
#include "common/text/utc_text.hpp"

namespace ringside {
namespace {

TEST(Printable, TextOfEveryLanguageStaysAsItIs) {
  for (const char* text : {"", "a b", "\u00e9\u20ac\U0001F600.mtx", "\\x1b", "C:\\fast"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, WhatSteersATerminalIsShownAsAnEscape) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("a\nb\r\tc\x7f"), "a\\nb\\r\\tc\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable(std::string("\xc2\x9b") + "31m"), "\\xc2\\x9b31m") << "C1 of a terminal that reads UTF-8";
  EXPECT_EQ(printable(std::string("\x9b") + "31m"), "\\x9b31m") << "C1 of one that does not";
}

TEST(Printable, WhatReordersOrHidesTheTextAroundItIsShownAsAnEscape) {
  EXPECT_EQ(printable("a\u202egpj.exe"), "a\\u202egpj.exe") << "right-to-left override";
  EXPECT_EQ(printable("\u2066a\u2069"), "\\u2066a\\u2069");
  EXPECT_EQ(printable("a\u2028b\u200bc\ufeff\u061c"), "a\\u2028b\\u200bc\\ufeff\\u061c");
  EXPECT_EQ(printable("a\u00adb"), "a\\u00adb");
  EXPECT_EQ(printable("\U000e0041"), "\\U000e0041") << "a tag";
  EXPECT_EQ(printable("\u05d0\u0628\u2027\u202f\u205f\u2070"), "\u05d0\u0628\u2027\u202f\u205f\u2070")
      << "letters written from right to left, and the neighbours of those above";
}

TEST(Printable, WithoutAllocationAsMuchIsWrittenAsFits) {
  char room[8];
  EXPECT_EQ(std::string(room, write_printable("a\x1b", room, sizeof room)), "a\\x1b");
  EXPECT_EQ(std::string(room, write_printable("abcde\x1b", room, sizeof room)), "abcde") << "no half of an escape";
  EXPECT_EQ(std::string(room, write_printable("abcdef\u20ac", room, sizeof room)), "abcdef");
  EXPECT_EQ(write_printable("a", room, 0), 0u);
}

TEST(Printable, BytesThatAreNoUtf8AreShownOneByOne) {
  EXPECT_EQ(printable("\xc3"), "\\xc3");
  EXPECT_EQ(printable(std::string("\xe2\x82") + "a"), "\\xe2\\x82a");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "an overlong slash";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a surrogate pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(Printable, EveryByteComesOutWithoutControlCharactersAndOnlyOnce) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string shown = printable(all);
  for (const char c : shown) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  EXPECT_EQ(printable(shown), shown);
}

TEST(Printable, ALongValueIsShortenedBetweenTwoCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc... (4 bytes)");
  EXPECT_EQ(shortened("ab\u20ac", 3), "ab... (5 bytes)");
}

TEST(Decimal, NumbersAreDigitsAndNothingElse) {
  EXPECT_EQ(whole_number("0"), 0u);
  EXPECT_EQ(whole_number("0100"), 100u);
  EXPECT_EQ(whole_number("18446744073709551615"), 18446744073709551615u);
  for (const char* text : {"", " ", "-1", "+1", "1 ", " 1", "0x1", "1_0", "1.0", "1e1", "18446744073709551616"}) {
    EXPECT_EQ(whole_number(text), std::nullopt) << text;
  }
  EXPECT_EQ(decimal_number("010.5e1"), 105.0);
  EXPECT_EQ(decimal_number(".5"), 0.5);
  for (const char* text : {"", "-1", "+1", "inf", "nan", "0x1p3", "1e400", "1,5", "1_0", ".", "e5", "1e"}) {
    EXPECT_EQ(decimal_number(text), std::nullopt) << text;
  }
}

TEST(UtcText, AnInstantIsWrittenToTheSecond) {
  EXPECT_EQ(utc_text(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(utc_text(1'795'395'600'999'999'999), "2026-11-23T01:00:00Z");
}

TEST(UtcText, EveryNumberOfNanosecondsHasAText) {
  EXPECT_EQ(utc_text(std::numeric_limits<std::int64_t>::max()), "2262-04-11T23:47:16Z");
  EXPECT_EQ(utc_text(std::numeric_limits<std::int64_t>::min()), "1677-09-21T00:12:44Z");
}

TEST(Utf8Prefix, ATextThatFitsIsWhole) {
  EXPECT_EQ(utf8_prefix("", 0), "");
  EXPECT_EQ(utf8_prefix("abc", 3), "abc");
  EXPECT_EQ(utf8_prefix("\u20ac", 3), "\u20ac");
  EXPECT_EQ(utf8_prefix("abc", 100), "abc");
}

TEST(Utf8Prefix, ALongerTextEndsBetweenTwoCharacters) {
  const std::string text = "a\u00e9\u20ac\U0001F600z";  // characters of 1, 2, 3, 4 and 1 bytes
  const std::size_t fits[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
  for (std::size_t most = 0; most <= text.size(); ++most) {
    EXPECT_EQ(utf8_prefix(text, most), text.substr(0, fits[most])) << most;
  }
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

// Compares formatted() with fmt, because the text of a message must not depend on which of the two formats it.

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

TEST(Utf8TextTest, TextThatIsNotUtf8IsMadeSo) {
  EXPECT_EQ(utf8_text("Gitter \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), "Gitter \xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(utf8_text(std::string("a\xff") + "b\xc3"), "a?b?");
  EXPECT_EQ(utf8_text("\xed\xa0\x80"), "???");  // a surrogate
  EXPECT_EQ(utf8_text("\xc0\x80"), "??");       // an overlong form
}

}  // namespace
}  // namespace ringside
