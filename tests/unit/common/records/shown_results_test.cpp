// SPDX-License-Identifier: BSD-3-Clause
// Which results are shown for runs with one variable, with several variables, and with only states.
#include "common/records/shown_results.hpp"

#include <gtest/gtest.h>

#include "tests/unit/common/records/some_runs.hpp"

namespace ringside {
namespace {

TEST(ShownResultsTest, OfAnXOnlyRunTheResidualsAndTheReductionsOfX) {
  const auto layout = std::make_shared<const RecordLayout>(Schema::x_only(5), x_only_catalogue(5));
  std::vector<std::uint64_t> words(layout->words());
  StepWithScalars step;
  step.descriptor.residual_l1 = 0.5;
  step.descriptor.residual_linf = 0.25;
  const std::vector<std::uint64_t> reduced = testing::mixed_results(layout->catalogue());
  layout->gather(reduced, &step, words);
  const StepResults results(layout, words);
  const ShownFigures shown = shown_of(results);
  EXPECT_EQ(shown.residual_l1, 0.5);
  EXPECT_EQ(shown.residual_linf, 0.25);
  EXPECT_EQ(shown.course, 0.5);
  EXPECT_EQ(shown.course_linf, 0.25);
  ASSERT_TRUE(shown.reductions);
  EXPECT_EQ(shown.reductions->l2, results.find("x.l2").f64());
  EXPECT_TRUE(shown.reductions->has_change);
  EXPECT_EQ(shown_names(results).course, "solver.residual_l1");
}

TEST(ShownResultsTest, WithoutResidualsTheCourseIsTheChangeOfTheFirstField) {
  const SharedLayout layout = testing::mixed_layout();
  const StepResults results(layout, testing::mixed_words(*layout));
  const ShownFigures shown = shown_of(results);
  EXPECT_FALSE(shown.residual_l1);
  EXPECT_EQ(first_field(layout->schema())->name, "u");
  EXPECT_EQ(shown_names(results).course, "u.change_l1");
  EXPECT_EQ(shown.course, results.find("u.change_l1").f64());
  EXPECT_EQ(shown.course_linf, results.find("u.change_linf").f64());
  EXPECT_EQ(shown.reductions->mean, results.find("u.mean").f64());
}

TEST(ShownResultsTest, OfARunOfStatesTheFirstScalarAndNoReductions) {
  const Schema schema = Schema::of({{.name = "r", .dtype = DType::kF64, .shape = {9}, .role = Role::kState}});
  const auto layout = std::make_shared<const RecordLayout>(schema, catalogue_of(schema, testing::mixed_scalars()));
  std::vector<std::uint64_t> words(layout->words());
  const StepWithScalars step = testing::mixed_step();
  layout->gather({}, &step, words);
  const StepResults results(layout, words);
  const ShownFigures shown = shown_of(results);
  EXPECT_FALSE(shown.reductions);
  EXPECT_EQ(shown.course, 0.25);
  EXPECT_FALSE(shown.course_linf);
  EXPECT_EQ(shown_names(results).course, "solver.rho");
  EXPECT_FALSE(shown_names(results).is_change);
}

TEST(ShownResultsTest, AFieldOfIntegersIsShownAsDoubles) {
  const Schema schema = Schema::of({{.name = "n", .dtype = DType::kI64, .shape = {7}}});
  const auto layout = std::make_shared<const RecordLayout>(schema, catalogue_of(schema));
  std::vector<std::uint64_t> words(layout->words());
  const std::vector<std::uint64_t> reduced = testing::mixed_results(layout->catalogue());
  layout->gather(reduced, nullptr, words);
  const StepResults results(layout, words);
  ASSERT_TRUE(shown_of(results).reductions);
  EXPECT_EQ(shown_of(results).reductions->sum, results.find("n.sum").as_double());
}

TEST(ShownResultsTest, OfValuesWithoutNamesNothing) {
  const SharedLayout layout = testing::mixed_layout();
  const ShownFigures shown = shown_of(StepResults(layout->counts(), testing::mixed_words(*layout)));
  EXPECT_FALSE(shown.course);
  EXPECT_FALSE(shown.reductions);
}

}  // namespace
}  // namespace ringside
