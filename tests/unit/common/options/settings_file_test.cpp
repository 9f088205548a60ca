// SPDX-License-Identifier: BSD-3-Clause
#include "common/options/settings_file.hpp"

#include <gtest/gtest.h>

#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

/// The message with which a text is refused; empty if it is accepted.
std::string settings_refusal(std::string_view text) {
  return failure_line([&] { (void)parse_settings(text, "a.toml"); });
}

std::string value_in(std::string_view text) {
  const std::vector<Setting> settings = parse_settings(text, "a.toml");
  return settings.size() == 1 ? settings.front().value : "not one setting";
}

TEST(SettingsFile, HoldsOneKeyALineBesideCommentsAndEmptyLines) {
  const std::vector<Setting> settings =
      parse_settings("# a comment\n\n  slots = 4  # more\npool=\"a#b\"\r\n\"every\"\t=\t'2'\nquiet = true", "a.toml");
  ASSERT_EQ(settings.size(), 4u);
  EXPECT_EQ(settings[0].key, "slots");
  EXPECT_EQ(settings[0].value, "4");
  EXPECT_EQ(settings[0].line, 3u);
  EXPECT_FALSE(settings[0].quoted);
  EXPECT_EQ(settings[1].value, "a#b") << "in quotes a # begins no comment";
  EXPECT_TRUE(settings[1].quoted);
  EXPECT_EQ(settings[2].key, "every");
  EXPECT_EQ(settings[3].value, "true");
  EXPECT_EQ(settings[3].line, 6u);
  EXPECT_EQ(value_in("slots = 4# more"), "4") << "a number ends where a comment begins";
}

TEST(SettingsFile, AByteOrderMarkAtItsBeginningIsNoPartOfAKey) {
  EXPECT_EQ(value_in("\xef\xbb\xbfslots = 4\n"), "4");
  EXPECT_EQ(parse_settings("\xef\xbb\xbf", "a.toml").size(), 0u);
}

TEST(SettingsFile, EscapesMeanWhatTheyMeanInToml) {
  EXPECT_EQ(value_in(R"(pool = "a\\b\"c\tdA\u00e9\U0001F600")"), "a\\b\"c\tdA\u00e9\U0001F600");
  EXPECT_EQ(value_in(R"(pool = 'a\b')"), "a\\b");
  EXPECT_EQ(value_in("pool = /tmp/x-1.pool"), "/tmp/x-1.pool") << "a word needs no quotes";
  for (const char* text :
       {R"(pool = "\q")", R"(pool = "\u12")", R"(pool = "\u0000")", R"(pool = "\ud800")", "pool = \"\\"}) {
    EXPECT_NE(settings_refusal(text).find("a.toml: line 1: found"), std::string::npos) << text;
  }
}

TEST(SettingsFile, AnArrayHoldsTextsInTheirOrder) {
  const std::vector<Setting> settings = parse_settings("reduce-with = [\"a, b\", 'c]',]  # two\n", "a.toml");
  ASSERT_EQ(settings.size(), 1u);
  EXPECT_TRUE(settings[0].is_array);
  EXPECT_EQ(settings[0].value, "a, b");
  EXPECT_EQ(settings[0].more, std::vector<std::string>{"c]"});
}

TEST(SettingsFile, ATableHoldsTextsWithNames) {
  const std::vector<Setting> settings =
      parse_settings("slots = 4\n[ trigger ]  # two\na = \"x\"\n\"b c\" = 'y'\n[none]\n", "a.toml");
  ASSERT_EQ(settings.size(), 2u);
  EXPECT_EQ(settings[1].key, "trigger");
  EXPECT_TRUE(settings[1].is_table);
  EXPECT_EQ(settings[1].value, "x");
  EXPECT_EQ(settings[1].more, std::vector<std::string>{"y"});
  EXPECT_EQ(settings[1].names, (std::vector<std::string>{"a", "b c"}));
}

TEST(SettingsFile, AnInvalidLineIsRefusedWithItsNumber) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"slots = 4\n[section] x\n", "line 2: found '[section] x', expected the name of a table in brackets"},
      {"[]\n", "line 1: found '[]', expected the name of a table in brackets, as in `[trigger]`"},
      {"[trigger\n", "line 1: found '[trigger', expected the name of a table in brackets"},
      {"[[trigger]]\n", "line 1: found '[[trigger]]', expected the name of a table in brackets"},
      {"[trigger]\nslots = 4\n", "line 2: found 'slots' with a value that is not a quoted text in the table [trigger]"},
      {"[trigger]\na = 'x'\na = 'y'\n", "line 3: found 'a' again in the table [trigger], expected it once"},
      {"[trigger]\na = 'x'\n[trigger]\nb = 'y'\n", "line 3: found 'trigger' again, expected it once"},
      {"slots\n", "line 1: found 'slots', expected KEY = VALUE"},
      {"= 4\n", "line 1: found '= 4', expected KEY = VALUE"},
      {"slots =\n", "line 1: found no value for 'slots'"},
      {"x=\n", "line 1: found no value for 'x'"},
      {"slots = # 4\n", "line 1: found no value for 'slots'"},
      {"slots = [4]\n", "line 1: found 'slots = [4]' for 'slots', expected one value, or an array of quoted texts"},
      {"slots = []\n", "expected one value, or an array of quoted texts"},
      {"slots = [\"4\" \"5\"]\n", "expected one value, or an array of quoted texts"},
      {"slots = [\"4\"\n", "expected one value, or an array of quoted texts"},
      {"slots = {a = 4}\n", "expected one value"},
      {"slots = 4 5\n", "line 1: found '5' after the value"},
      {"cores = 0,1\n", "line 1: found '0,1' for 'cores', expected quotes around the value"},
      {"pool = run#1.pool\n", "line 1: found 'run#1.pool' for 'pool', expected quotes around the value"},
      {"pool = \"a\n", "line 1: found no closing \""},
      {"pool = \"\"\"a\"\"\"\n", "found a text of several lines"},
      {"pool = \"a\" b\n", "found 'b' after the value"},
      {"slots = 4\n\nslots = 5\n", "line 3: found 'slots' again, expected it once (line 1 has it, too)"},
      {std::string("pool = \"a\0b\"\n", 13), "line 1: found the control character 0x00"},
      {"pool = \"a\x1b[31m\"\n", "line 1: found the control character 0x1b"},
      {"; slots = 4 as in other files\n", "line 1: found"}};
  for (const auto& [text, fragment] : refused) {
    EXPECT_NE(settings_refusal(text).find(fragment), std::string::npos) << text << ": " << settings_refusal(text);
  }
}

}  // namespace
}  // namespace ringside
