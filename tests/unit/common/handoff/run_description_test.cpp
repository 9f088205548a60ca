// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/run_description.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace ringside {
namespace {

std::string assigned(std::string_view text) {
  char field[8];
  std::fill(std::begin(field), std::end(field), 'x');
  assign(field, text);
  EXPECT_EQ(field[7], '\0');
  return std::string(text_of(field));
}

TEST(RunDescriptionTest, ATextThatFitsIsKeptAndTheRestIsZero) {
  EXPECT_EQ(assigned(""), "");
  EXPECT_EQ(assigned("seven77"), "seven77");
  char field[8] = {'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x'};
  assign(field, "ab");
  EXPECT_EQ(std::string(field, 8), std::string("ab\0\0\0\0\0\0", 8));
}

TEST(RunDescriptionTest, ATooLongTextLosesItsBeginning) {
  EXPECT_EQ(assigned("folder/a.mtx"), "r/a.mtx");
}

TEST(RunDescriptionTest, NoCharacterIsCutInTwo) {
  EXPECT_EQ(assigned("\u00e9123456"), "123456") << "two bytes, cut after the first";
  EXPECT_EQ(assigned("\u00e912345"), "\u00e912345") << "two bytes that fit";
  EXPECT_EQ(assigned("a\u00e912345"), "\u00e912345") << "cut before the character";
  EXPECT_EQ(assigned("\U0001F6001234"), "1234") << "four bytes, cut after the first";
  EXPECT_EQ(assigned("\U0001F600123456"), "123456") << "four bytes, cut after the third";
}

TEST(RunDescriptionTest, TextThatIsNotUtf8IsNotShortenedFurther) {
  EXPECT_EQ(assigned("\x80\x80\x80\x80\x80\x80\x80\x80"), "\x80\x80\x80\x80") << "no character has more than three";
}

TEST(RunDescriptionTest, AFieldWithoutItsNulIsTakenWhole) {
  const char field[4] = {'a', 'b', 'c', 'd'};
  EXPECT_EQ(text_of(field), "abcd");
}

}  // namespace
}  // namespace ringside
