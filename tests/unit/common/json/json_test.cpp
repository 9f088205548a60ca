// SPDX-License-Identifier: BSD-3-Clause
// A JSON value is printed with the same bytes as by nlohmann/json: for random documents, and for a text that both have
// read.
#include "common/json/json.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace ringside {
namespace {

using nlohmann::ordered_json;

class RandomDocument {
 public:
  explicit RandomDocument(std::uint64_t seed) : random_(seed) {}

  /// Makes the same value in both types.
  void fill(Json& ours, ordered_json& theirs, int depth) {
    switch (below(depth > 0 ? 8 : 6)) {
      case 0: return;
      case 1: return set(ours, theirs, below(2) == 1);
      case 2: return set(ours, theirs, static_cast<std::int64_t>(random_()));
      case 3: return set(ours, theirs, random_() >> below(64));
      case 4: return set(ours, theirs, number());
      case 5: return set(ours, theirs, text());
      case 6:
        ours = Json::array();
        theirs = ordered_json::array();
        for (std::uint64_t i = below(5); i > 0; --i) {
          theirs.push_back(nullptr);
          ours.push_back(nullptr);
          fill(ours.back(), theirs.back(), depth - 1);
        }
        return;
      default:
        ours = Json::object();
        theirs = ordered_json::object();
        for (std::uint64_t i = below(6); i > 0; --i) {
          const std::string key = text();
          fill(ours[key], theirs[key], depth - 1);
        }
    }
  }

 private:
  template <class T>
  static void set(Json& ours, ordered_json& theirs, const T& value) {
    ours = value;
    theirs = value;
  }

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  double number() {
    switch (below(3)) {
      case 0: return std::bit_cast<double>(random_());  // any double, including NaN, infinities and subnormals
      case 1: return static_cast<double>(below(1000)) / 8;
      default: return static_cast<double>(random_() >> below(64));
    }
  }

  /// A text of random bytes, which may be invalid UTF-8.
  std::string text() {
    static constexpr std::array<std::string_view, 8> kParts = {
        "a", "\"", "\n", "\x01", "\xc3\xa4", "\xff", "\xf0\x9f\x98\x80", "/\\"};
    std::string text;
    for (std::uint64_t i = below(5); i > 0; --i) text += kParts[below(kParts.size())];
    return text;
  }

  std::mt19937_64 random_;
};

template <class Theirs>
std::string dump(const Theirs& json, int indent = -1, bool ascii = false) {
  return json.dump(indent, ' ', ascii, Theirs::error_handler_t::replace);
}

TEST(Json, PrintsTheBytesOfNlohmann) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Json ours;
    ordered_json theirs;
    RandomDocument(seed).fill(ours, theirs, 5);
    ASSERT_EQ(ours.dump(), dump(theirs)) << seed;
    ASSERT_EQ(ours.dump(2), dump(theirs, 2)) << seed;
    ASSERT_EQ(ours.dump_ascii(), dump(theirs, -1, true)) << seed;
    ASSERT_EQ(ours.dump_sorted(2), dump(nlohmann::json(theirs), 2)) << seed;
    ASSERT_EQ(ours.sorted().dump(), dump(nlohmann::json(theirs))) << seed;
  }
}

TEST(Json, ReadsATextAsNlohmannDoes) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Json ours;
    ordered_json theirs;
    RandomDocument(seed).fill(ours, theirs, 5);
    std::string text = dump(theirs);
    if (seed % 2 == 1 && !text.empty()) text[(seed * 31) % text.size()] = static_cast<char>("{}[],:\"0e.-x"[seed % 12]);
    const nlohmann::json expected = nlohmann::json::parse(text, nullptr, false);
    const Json read = Json::try_parse(text);
    ASSERT_EQ(read.is_discarded(), expected.is_discarded()) << text;
    if (read.is_discarded()) continue;
    ASSERT_EQ(read.dump(), dump(expected)) << text;
  }
  for (const char* text :
       {"", " ", "[", "1e999", "-0", "-0.0", "18446744073709551615", "18446744073709551616", "-9223372036854775808",
        "01", "[1,]", "{\"a\":1,\"a\":2}", "\xef\xbb\xbf{}", "\"\\ud800\"", "\"\xff\"", "1 2", "nul"}) {
    const nlohmann::json expected = nlohmann::json::parse(text, nullptr, false);
    const Json read = Json::try_parse(text);
    EXPECT_EQ(read.is_discarded(), expected.is_discarded()) << text;
    if (!read.is_discarded()) {
      EXPECT_EQ(read.dump(), dump(expected)) << text;
      EXPECT_EQ(read.is_number_unsigned(), expected.is_number_unsigned()) << text;
      EXPECT_EQ(read.is_number_float(), expected.is_number_float()) << text;
    }
  }
}

TEST(Json, ListsBecomeTheValuesThatTheyBecomeInNlohmann) {
  const auto expect_equal = [](const Json& ours, const ordered_json& theirs) { EXPECT_EQ(ours.dump(), theirs.dump()); };
  const std::vector<std::uint64_t> numbers = {3, 1};
  const std::uint32_t array[2] = {1, 2};
  const std::map<std::string, double> map = {{"b", 1.5}, {"a", 2}};
  expect_equal({}, {});
  expect_equal({1, 2}, {1, 2});
  expect_equal({"a", "b"}, {"a", "b"});
  expect_equal({{"a", 1}}, {{"a", 1}});
  expect_equal({{"a", 1}, {"b", {1, 2}}}, {{"a", 1}, {"b", {1, 2}}});
  expect_equal({{"a", "b"}, {1, "b"}}, {{"a", "b"}, {1, "b"}});
  expect_equal({{"a", {{"b", nullptr}}}, {"c", {}}}, {{"a", {{"b", nullptr}}}, {"c", {}}});
  expect_equal({{"a", 1}, {"a", 2}}, {{"a", 1}, {"a", 2}});
  expect_equal(Json{"a"}, ordered_json{"a"});
  expect_equal(numbers, numbers);
  expect_equal(array, array);
  expect_equal(map, map);
  expect_equal({{"n", numbers}, {"m", map}}, {{"n", numbers}, {"m", map}});
  expect_equal(Json::array({{"a", 1}}), ordered_json::array({{"a", 1}}));
  expect_equal(Json::array(), ordered_json::array());
  expect_equal(Json::object(), ordered_json::object());
  expect_equal(1.0F, 1.0F);
  expect_equal('a', 'a');
}

TEST(Json, AnObjectKeepsItsKeysInTheirOrder) {
  Json object = {{"z", 1}, {"a", 2}};
  object["m"] = 3;
  object["z"] = 4;
  object.update({{"b", 5}, {"a", 6}});
  EXPECT_EQ(object.dump(), R"({"z":4,"a":6,"m":3,"b":5})");
  object.erase("a");
  object.erase("missing");
  EXPECT_EQ(object.dump(), R"({"z":4,"m":3,"b":5})");
  std::string keys;
  for (const auto& [key, value] : object.items()) keys += key + value.dump();
  EXPECT_EQ(keys, "z4m3b5");
}

TEST(Json, WhatIsMissingIsNamed) {
  const Json object = {{"a", 1}, {"t", "text"}};
  EXPECT_THROW(object.at("b"), JsonError);
  EXPECT_THROW(object.at(0), JsonError);
  EXPECT_THROW(Json::array({1}).at(1), JsonError);
  EXPECT_THROW(object.at("a").get<std::string>(), JsonError);
  EXPECT_THROW(object.at("t").get<double>(), JsonError);
  EXPECT_THROW(object.value("t", 1), JsonError);
  EXPECT_THROW(Json(1).value("t", 1), JsonError);
  EXPECT_THROW(Json(1)["a"] = 2, JsonError);
  EXPECT_THROW(Json::object().push_back(1), JsonError);
  EXPECT_THROW(Json::parse("{"), JsonError);
  EXPECT_EQ(object.value("b", 7), 7);
  EXPECT_EQ(object.value("b", "none"), "none");
  EXPECT_TRUE(object["b"].is_null());
  EXPECT_FALSE(Json(1).contains("a"));
  EXPECT_EQ(object.find("b"), object.end());
}

TEST(Json, NumbersAreComparedByValueAndObjectsWithoutTheirOrder) {
  EXPECT_EQ(Json(1), Json(1U));
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json(0), Json());
  EXPECT_LT(Json(-1), Json(1U));
  EXPECT_GT(Json(1.5), 1);
  EXPECT_FALSE(Json() < Json(1));
  EXPECT_EQ(Json({{"a", 1}, {"b", 2}}), Json({{"b", 2}, {"a", 1}}));
  EXPECT_NE(Json({{"a", 1}, {"b", 2}}), Json({{"a", 1}}));
  EXPECT_NE(Json({1, 2}), Json({2, 1}));
}

TEST(Json, FlawsOfATextAreReported) {
  JsonFlaws flaws;
  flaws.deepest = 2;
  EXPECT_FALSE(Json::try_parse(R"({"a":{"b":1,"c":2},"b":[]})", &flaws).is_discarded());
  EXPECT_FALSE(flaws.too_deep);
  EXPECT_EQ(flaws.repeated_key, std::nullopt);
  EXPECT_FALSE(Json::try_parse(R"({"a":{"b":1,"b":2},"a":1})", &flaws).is_discarded());
  EXPECT_EQ(flaws.repeated_key, "b");
  EXPECT_TRUE(Json::try_parse("[[[1]]]", &flaws).is_discarded());
  EXPECT_TRUE(flaws.too_deep);
}

TEST(Json, AValueMayBeNestedAsDeeplyAsATextIsLong) {
  constexpr std::size_t kDepth = 1'000'000;
  const Json deep = Json::parse(std::string(kDepth, '[') + std::string(kDepth, ']'));
  EXPECT_TRUE(deep.is_array());
}

TEST(Json, ASummaryOfManyKeysIsReadInTheTimeOfItsLength) {
  std::string text = "{";
  for (int i = 0; i < 200'000; ++i) text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":1";
  std::istringstream stream(text + "}");
  EXPECT_EQ(Json::try_parse(stream).size(), 200'000U);
}

}  // namespace
}  // namespace ringside
