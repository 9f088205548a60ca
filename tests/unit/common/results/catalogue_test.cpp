// SPDX-License-Identifier: BSD-3-Clause
// The full names and the places of results, and the descriptions that are refused.
#include "common/results/catalogue.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/text/fixed_text.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

ResultDescription described(std::string_view name, ValueType type, std::uint16_t classes, std::uint32_t count = 1) {
  ResultDescription description;
  assign(description.name, name);
  description.type = type;
  description.classes = classes;
  description.source = classes == 0 ? ResultSource::kOther : ResultSource::kReduction;
  description.count = count;
  return description;
}

/// For real and complex fields a sum and three bins; for integer fields an exact sum and three bins.
std::vector<ResultDescription> reductions() {
  return {described("sum", ValueType::kF64, 3), described("sum", ValueType::kI128, 4),
          described("bins", ValueType::kI64, 7, 3)};
}

Schema two_fields_and_a_state() {
  return Schema::of({{.name = "u", .dtype = DType::kF32, .shape = {4}, .unit = "K"},
                     {.name = "p", .dtype = DType::kF64, .shape = {4}, .role = Role::kState},
                     {.name = "n", .dtype = DType::kI32, .shape = {4}}});
}

TEST(CatalogueTest, EveryFieldHasTheReductionsOfItsClassAndAStateHasNone) {
  const Scalar scalars[] = {{.name = "residual", .unit = "1"}, {.name = "restarts", .type = ValueType::kI64}};
  const ResultDescription others[] = {described("analysis.vortices", ValueType::kI64, 0)};
  const Catalogue catalogue = Catalogue::of(two_fields_and_a_state(), reductions(), scalars, others);
  std::string names;
  for (const Result& result : catalogue.results()) names += result.full_name + " ";
  EXPECT_EQ(names, "u.sum u.bins n.sum n.bins analysis.vortices solver.residual solver.restarts ");
  EXPECT_EQ(catalogue.find("u.sum")->unit, "K");
  EXPECT_EQ(catalogue.find("n.sum")->type, ValueType::kI128);
  EXPECT_EQ(catalogue.find("p.sum"), nullptr);
  EXPECT_EQ(catalogue.find("solver.restarts")->word, 1u);
  EXPECT_EQ(catalogue.scalars().size(), 2u);
}

TEST(CatalogueTest, WordsFollowThePresenceBitsInOrder) {
  const Catalogue catalogue = Catalogue::of(two_fields_and_a_state(), reductions());
  EXPECT_EQ(catalogue.presence_words(), 1u);
  EXPECT_EQ(catalogue.find("u.sum")->word, 1u);
  EXPECT_EQ(catalogue.find("u.bins")->word, 2u);
  EXPECT_EQ(catalogue.find("n.sum")->word, 5u);
  EXPECT_EQ(catalogue.find("n.bins")->word, 7u);
  EXPECT_EQ(catalogue.find("n.bins")->bit, 3u);
  EXPECT_EQ(catalogue.words(), 10u);
}

TEST(CatalogueTest, DecodingGivesTheCatalogueAgain) {
  const Scalar scalars[] = {{.name = "residual"}};
  const Catalogue catalogue = Catalogue::of(two_fields_and_a_state(), reductions(), scalars);
  const Catalogue again = Catalogue::decode(two_fields_and_a_state(), catalogue.descriptions(), "pool");
  ASSERT_EQ(again.results().size(), catalogue.results().size());
  for (std::size_t r = 0; r < again.results().size(); ++r) {
    EXPECT_EQ(again.results()[r].full_name, catalogue.results()[r].full_name);
    EXPECT_EQ(again.results()[r].word, catalogue.results()[r].word);
  }
  EXPECT_EQ(again.words(), catalogue.words());
}

TEST(CatalogueTest, AReductionThatNoFieldHasIsNotDescribed) {
  EXPECT_EQ(Catalogue::of(Schema::x_only(4), reductions()).descriptions().size(), 2u);
}

TEST(CatalogueTest, WrongDescriptionsAreRefused) {
  struct Case {
    std::function<void(ResultDescription&)> change;
    const char* line;
  };
  const Case cases[] = {
      {[](auto& r) { std::memset(r.name, 0, sizeof r.name); }, "POOL: result 1 has no name; "},
      {[](auto& r) { r.unit[3] = 'x'; }, "POOL: result 'sum': bytes after its texts are not 0"},
      {[](auto& r) { r.type = ValueType{4}; }, "POOL: result 'sum': type 4; expected 1 to 3"},
      {[](auto& r) { r.source = ResultSource{9}; }, "POOL: result 'sum': source 9; expected 1 to 3"},
      {[](auto& r) { r.classes = 8; }, "POOL: result 'sum': classes 8; expected 1 to 7"},
      {[](auto& r) { r.classes = 0; }, "POOL: result 'sum': classes 0; expected 1 to 7"},
      {[](auto& r) { r.count = 0; }, "POOL: result 'sum': count 0; expected 1 to 1048576"},
      {[](auto& r) { r.count = 1 << 20; }, "POOL: the results of a step have more than 1048576 words; "},
      {[](auto& r) { r.flags = 2; }, "POOL: result 'sum': flags 2; expected 0 or 1"},
      {[](auto& r) { r.reserved[3] = 1; }, "POOL: result 'sum': bytes after its texts are not 0"},
      {[](auto& r) {
         r.source = ResultSource::kScalar;
         r.classes = 0;
       },
       "POOL: scalar 'sum': type 3; expected 1 (f64) or 2 (i64)"},
      {[](auto& r) {
         r.type = ValueType::kI64;
         r.source = ResultSource::kScalar;
         r.classes = 0;
         set_origin(r, {0, 7});
       },
       "POOL: scalar 'sum': origin 7; expected 0"},
      {[](auto& r) { r.classes = 5; }, "POOL: two results are named 'u.sum'; expected each name once"},
  };
  for (const Case& wrong : cases) {
    std::vector<ResultDescription> descriptions = reductions();
    wrong.change(descriptions[1]);
    const std::string line = failure_line([&] { Catalogue::decode(two_fields_and_a_state(), descriptions, "POOL"); });
    EXPECT_EQ(line.rfind(wrong.line, 0), 0u) << line << "\nexpected " << wrong.line;
  }
}

}  // namespace
}  // namespace ringside
