// SPDX-License-Identifier: BSD-3-Clause
#include "common/results/result_values.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "common/text/fixed_text.hpp"

namespace ringside {
namespace {

Catalogue three_results() {
  std::vector<ResultDescription> descriptions(3);
  const char* const names[] = {"a.real", "a.count", "a.exact"};
  for (std::size_t d = 0; d < 3; ++d) {
    assign(descriptions[d].name, names[d]);
    descriptions[d].type = ValueType{static_cast<std::uint8_t>(d + 1)};
  }
  descriptions[1].count = 2;
  return Catalogue::of(Schema::x_only(1), {}, {}, descriptions);
}

constexpr Int128 kLeast = static_cast<Int128>(1) << 127;

TEST(ResultValuesTest, ValuesAreReadAsTheyWereWritten) {
  const Catalogue catalogue = three_results();
  std::vector<std::uint64_t> words(catalogue.words(), 77);
  ResultWriter writer(words);
  writer.clear();
  const ResultValues values(words);
  for (const Result& result : catalogue.results()) EXPECT_FALSE(values.present(result));
  writer.set_f64(*catalogue.find("a.real"), -0.0);
  writer.set_i64(*catalogue.find("a.count"), -5, 1);
  writer.set_i128(*catalogue.find("a.exact"), kLeast + 3);
  EXPECT_TRUE(std::signbit(values.f64(*catalogue.find("a.real"))));
  EXPECT_EQ(values.i64(*catalogue.find("a.count"), 0), 0);
  EXPECT_EQ(values.i64(*catalogue.find("a.count"), 1), -5);
  EXPECT_TRUE(values.i128(*catalogue.find("a.exact")) == kLeast + 3);
  for (const Result& result : catalogue.results()) EXPECT_TRUE(values.present(result));
}

TEST(ResultValuesTest, IntegersOf128BitsHaveTheirDigits) {
  EXPECT_EQ(to_string(Int128{0}), "0");
  EXPECT_EQ(to_string(Int128{-42}), "-42");
  EXPECT_EQ(to_string(static_cast<Int128>(std::numeric_limits<std::uint64_t>::max()) * 10), "184467440737095516150");
  EXPECT_EQ(to_string(kLeast), "-170141183460469231731687303715884105728");
}

TEST(ResultValuesTest, DifferencesAreNamedAndDoublesAreComparedByTheirBits) {
  const Catalogue catalogue = three_results();
  std::vector<std::uint64_t> before(catalogue.words());
  std::vector<std::uint64_t> now(catalogue.words());
  for (std::vector<std::uint64_t>* words : {&before, &now}) {
    ResultWriter writer(*words);
    writer.set_f64(*catalogue.find("a.real"), std::numeric_limits<double>::quiet_NaN());
    writer.set_i64(*catalogue.find("a.count"), 7, 1);
  }
  EXPECT_TRUE(differences(catalogue, ResultValues(before), ResultValues(now)).empty());
  ResultWriter writer(now);
  writer.set_f64(*catalogue.find("a.real"), -std::numeric_limits<double>::quiet_NaN());
  writer.set_i64(*catalogue.find("a.count"), 8, 1);
  writer.set_i128(*catalogue.find("a.exact"), 0);
  const auto found = differences(catalogue, ResultValues(before), ResultValues(now));
  std::vector<std::string> lines;
  for (const auto& one : found) lines.push_back(one.name + ": " + one.recorded + ", now " + one.recomputed);
  EXPECT_EQ(lines, (std::vector<std::string>{"a.real: nan, now -nan", "a.count[1]: 7, now 8", "a.exact: -, now 0"}));
}

TEST(ResultValuesTest, NoChangeBesideNaNIsWhatAnEarlierReleaseRecorded) {
  Result result;
  result.full_name = "x.change_linf";
  result.source = ResultSource::kReduction;
  result.type = ValueType::kF64;
  const auto nan = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(is_of_earlier_release(result, 0, nan));
  EXPECT_FALSE(is_of_earlier_release(result, nan, 0));
  EXPECT_FALSE(is_of_earlier_release(result, std::bit_cast<std::uint64_t>(0.5), nan));
  result.full_name = "x.change_l1";
  EXPECT_FALSE(is_of_earlier_release(result, 0, nan));
}

TEST(ResultValuesTest, EqualDigitsOfADoubleAreFollowedByItsBits) {
  const Catalogue catalogue = three_results();
  std::vector<std::uint64_t> before(catalogue.words());
  std::vector<std::uint64_t> now(catalogue.words());
  ResultWriter(before).set_f64(*catalogue.find("a.real"), std::bit_cast<double>(0x7ff8000000000000));
  ResultWriter(now).set_f64(*catalogue.find("a.real"), std::bit_cast<double>(0x7ff8000000000001));
  const auto found = differences(catalogue, ResultValues(before), ResultValues(now));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].recorded, "nan (0x7ff8000000000000)");
  EXPECT_EQ(found[0].recomputed, "nan (0x7ff8000000000001)");
}

}  // namespace
}  // namespace ringside
