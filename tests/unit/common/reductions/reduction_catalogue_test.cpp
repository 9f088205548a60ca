// SPDX-License-Identifier: BSD-3-Clause
// The results that a release computes for each class of dtype, and the words of a step that has only x.
#include "common/reductions/reduction_catalogue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/reductions/reduction_words.hpp"
#include "common/results/result_values.hpp"
#include "tests/unit/common/reductions/reduction_cases.hpp"

namespace ringside {
namespace {

std::string names_of(const Catalogue& catalogue) {
  std::string names;
  for (const Result& result : catalogue.results()) names += result.full_name + " ";
  return names;
}

std::vector<std::uint64_t> words_of(const Reductions& reductions) {
  std::vector<std::uint64_t> words(kXOnlyWords, 77);
  to_words(reductions, words);
  return words;
}

Reductions reduced(const Vector& x, const Vector& previous) {
  Reducer reducer(x.size());
  return reducer.reduce(x.data(), previous.empty() ? nullptr : previous.data(), 1);
}

TEST(ReductionCatalogue, ARealFieldHasFourteenReductionsIn299Words) {
  const Catalogue catalogue = x_only_catalogue(8);
  EXPECT_EQ(names_of(catalogue),
            "x.sum x.mean x.min x.max x.l1 x.l2 x.linf x.change_l1 x.change_l2 x.change_linf x.non_finite x.top_row "
            "x.top_value x.histogram solver.residual_l1 solver.residual_linf ");
  EXPECT_EQ(catalogue.words(), kXOnlyWords);
  EXPECT_EQ(catalogue.descriptions().size(), 14u + 2);
  for (const Result& result : catalogue.results()) {
    const bool counts =
        result.full_name == "x.non_finite" || result.full_name == "x.top_row" || result.full_name == "x.histogram";
    EXPECT_EQ(result.type, counts ? ValueType::kI64 : ValueType::kF64) << result.full_name;
    EXPECT_EQ(result.flags == kNeedsPrevious, result.full_name.rfind("x.change_", 0) == 0) << result.full_name;
  }
}

TEST(ReductionCatalogue, AnIntegerFieldHasThirteenReductionsIn305Words) {
  const Catalogue catalogue =
      catalogue_of(Schema::of({{.name = "n", .dtype = DType::kU8, .shape = {3}, .unit = "kg"}}));
  EXPECT_EQ(names_of(catalogue),
            "n.sum n.mean n.min n.max n.l1 n.l2 n.linf n.change_l1 n.change_l2 n.change_linf n.top_row n.top_value "
            "n.histogram ");
  EXPECT_EQ(catalogue.words(), 1 + kIntegerFieldWords);
  EXPECT_EQ(catalogue.results().size(), 13u);
  for (const char* exact : {"n.sum", "n.min", "n.max", "n.l1", "n.linf", "n.change_l1", "n.change_linf"}) {
    EXPECT_EQ(catalogue.find(exact)->type, ValueType::kI128) << exact;
    EXPECT_EQ(catalogue.find(exact)->unit, "kg") << exact;
  }
  EXPECT_EQ(catalogue.find("n.mean")->type, ValueType::kF64);
  EXPECT_EQ(catalogue.find("n.top_row")->unit, "1");
}

TEST(ReductionCatalogue, AllClassesTogetherNeedTwentyOneDescriptions) {
  const Catalogue catalogue = catalogue_of(Schema::of({{.name = "c", .dtype = DType::kC64},
                                                       {.name = "s", .dtype = DType::kF64, .role = Role::kState},
                                                       {.name = "n", .dtype = DType::kI64},
                                                       {.name = "f", .dtype = DType::kF32}}));
  EXPECT_EQ(catalogue.descriptions().size(), 21u);
  EXPECT_EQ(catalogue.words(), 1 + 2 * kRealFieldWords + kIntegerFieldWords);
  EXPECT_EQ(catalogue.find("c.sum")->type, ValueType::kF64);
  EXPECT_EQ(catalogue.find("s.sum"), nullptr);
}

TEST(ReductionCatalogue, TheWordsOfAnXOnlyStepHoldEachValueWhereTheCatalogueSays) {
  const Reductions r = reduced(wide_vector(5000, true, 1), wide_vector(5000, true, 2));
  const std::vector<std::uint64_t> words = words_of(r);
  const Catalogue catalogue = x_only_catalogue(5000);
  const ResultValues values(words);
  const auto f64 = [&](const char* name) { return values.f64(*catalogue.find(name)); };
  EXPECT_EQ(f64("x.sum"), r.sum);
  EXPECT_EQ(f64("x.mean"), r.mean);
  EXPECT_EQ(f64("x.min"), r.min);
  EXPECT_EQ(f64("x.max"), r.max);
  EXPECT_EQ(f64("x.l1"), r.l1);
  EXPECT_EQ(f64("x.l2"), r.l2);
  EXPECT_EQ(f64("x.linf"), r.linf);
  EXPECT_EQ(f64("x.change_l1"), r.change_l1);
  EXPECT_EQ(f64("x.change_l2"), r.change_l2);
  EXPECT_EQ(f64("x.change_linf"), r.change_linf);
  EXPECT_EQ(values.i64(*catalogue.find("x.non_finite")), 0);
  for (std::uint32_t i = 0; i < kTopEntries; ++i) {
    EXPECT_EQ(values.i64(*catalogue.find("x.top_row"), i), static_cast<std::int64_t>(r.top[i].row));
    EXPECT_EQ(values.f64(*catalogue.find("x.top_value"), i), r.top[i].value);
  }
  for (std::uint32_t bin = 0; bin < kHistogramBins; ++bin) {
    EXPECT_EQ(values.i64(*catalogue.find("x.histogram"), bin), static_cast<std::int64_t>(r.histogram[bin]));
  }
  for (const Result& result : catalogue.results()) {
    if (result.source == ResultSource::kScalar) continue;
    EXPECT_TRUE(values.present(result)) << result.full_name;
  }
}

TEST(ReductionCatalogue, WithoutAStepBeforeTheChangeIsAbsentAndZero) {
  const std::vector<std::uint64_t> words = words_of(reduced({3, 1, 2}, {}));
  const Catalogue catalogue = x_only_catalogue(3);
  for (const Result& result : catalogue.results()) {
    if (result.source != ResultSource::kReduction) continue;
    const bool is_change = result.full_name.rfind("x.change_", 0) == 0;
    EXPECT_EQ(ResultValues(words).present(result), !is_change) << result.full_name;
    EXPECT_FALSE(is_change && words[result.word] != 0) << result.full_name;
  }
}

TEST(ReductionCatalogue, AnUnfilledTopRowIsMinusOne) {
  const std::vector<std::uint64_t> words = words_of(reduced({3, kNaN, 2}, {}));
  const Catalogue catalogue = x_only_catalogue(3);
  const ResultValues values(words);
  const Result& rows = *catalogue.find("x.top_row");
  EXPECT_EQ(values.i64(rows, 0), 0);
  EXPECT_EQ(values.i64(rows, 1), 2);
  for (std::uint32_t i = 2; i < kTopEntries; ++i) {
    EXPECT_EQ(values.i64(rows, i), -1);
    EXPECT_EQ(values.f64(*catalogue.find("x.top_value"), i), 0);
  }
}

TEST(ReductionCatalogue, WordsGiveTheRecordAgainBitForBit) {
  for (const Case& c : finite_cases()) {
    const Reductions r = reduced(c.x, c.previous);
    EXPECT_TRUE(bit_equal(to_reductions(words_of(r), c.x.size()), r)) << c.name;
  }
  const Reductions nothing_but_nan = reduced(Vector(40, kNaN), Vector(40, 1.0));
  EXPECT_TRUE(bit_equal(to_reductions(words_of(nothing_but_nan), 40), nothing_but_nan));
}

}  // namespace
}  // namespace ringside
