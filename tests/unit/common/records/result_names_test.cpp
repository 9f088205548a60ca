// SPDX-License-Identifier: BSD-3-Clause
// The names of results, for readers that receive steps and descriptions in different orders.
#include "common/records/result_names.hpp"

#include <gtest/gtest.h>

#include "common/records/record_message.hpp"
#include "common/records/shown_results.hpp"
#include "tests/unit/common/records/some_runs.hpp"
#include "tests/unit/wire_text.hpp"

namespace ringside {
namespace {

using testing::mixed_layout;
using testing::mixed_words;

wire::StepRecord mixed_record() {
  wire::StepRecord step;
  const SharedLayout layout = mixed_layout();
  fill(*step.mutable_results(), *layout, mixed_words(*layout));
  return step;
}

TEST(ResultNamesTest, TheValuesOfAStepGetTheNamesOfItsRun) {
  ResultNames names;
  EXPECT_FALSE(names.knows(mixed_record()));
  wire::Record record;
  *record.mutable_run_described() = describe_run("0123456789abcdef", *mixed_layout());
  names.learn(record);
  EXPECT_TRUE(names.knows(mixed_record()));
  const StepResults results = names.results(mixed_record());
  EXPECT_EQ(results.find("solver.rho").f64(), 0.25);
  EXPECT_EQ(results.name(0), "u.sum");
}

TEST(ResultNamesTest, WithoutADescriptionValuesHaveNumbers) {
  const StepResults results = ResultNames().results(mixed_record());
  const SharedLayout layout = mixed_layout();
  ASSERT_EQ(results.size(), layout->results().size());
  EXPECT_EQ(results.name(0), "#0");
  const StepResults named(layout, mixed_words(*layout));
  for (const RecordedResult& recorded : layout->results()) {
    EXPECT_EQ(results.value(recorded.number), named.value_of(recorded)) << recorded.result->full_name;
  }
}

TEST(ResultNamesTest, ColumnsThatAreNotThoseOfTheirCatalogueGetNoNames) {
  ResultNames names;
  names.learn(mixed_layout());
  wire::StepRecord step = mixed_record();
  step.mutable_results()->add_f64(1);
  const StepResults results = names.results(step);
  EXPECT_FALSE(results.layout());
  EXPECT_EQ(results.name(1), "#1");
}

TEST(ResultNamesTest, AStepFromBeforeThereWereNamesHasThoseOfToday) {
  auto step = testing::wire_message<wire::StepRecord>(
      "residual_l1: 0.5 residual_linf: 0.25 reductions { sum: 1 l2: 3 non_finite: 2 }");
  StepResults results = ResultNames().results(step);
  EXPECT_EQ(results.size(), 13u);
  EXPECT_EQ(results.find("x.sum").f64(), 1);
  EXPECT_EQ(results.find("x.l2").f64(), 3);
  EXPECT_EQ(results.find("x.non_finite").i64(), 2);
  EXPECT_EQ(results.find("solver.residual_l1").f64(), 0.5);
  EXPECT_EQ(results.find("solver.residual_linf").f64(), 0.25);
  EXPECT_TRUE(results.find("x.mean").present);
  EXPECT_FALSE(results.find("x.change_l1").present) << "the first step of a run";
  step.mutable_reductions()->set_has_change(true);
  step.mutable_reductions()->set_change_l1(7);
  results = ResultNames().results(step);
  EXPECT_EQ(results.find("x.change_l1").f64(), 7);
}

TEST(ResultNamesTest, AStepRebuiltBeforeItWasReducedHasNoReductions) {
  wire::StepRecord step;
  step.set_rebuilt(true);
  step.mutable_reductions();
  const StepResults results = ResultNames().results(step);
  EXPECT_FALSE(results.find("x.l2").present);
  EXPECT_TRUE(results.find("solver.residual_l1").present);
}

TEST(ResultNamesTest, OnlyTheNewestDescriptionsAreKept) {
  ResultNames names;
  names.learn(mixed_layout());
  for (std::uint64_t rows = 1; rows <= ResultNames::kMost; ++rows) {
    const Schema schema = Schema::x_only(rows);
    names.learn(std::make_shared<const RecordLayout>(schema, x_only_catalogue(rows)));
  }
  EXPECT_FALSE(names.knows(mixed_record()));
}

TEST(ResultsJsonTest, AbsentValuesAreNullAndWideIntegersAreTexts) {
  const SharedLayout layout = mixed_layout();
  std::vector<std::uint64_t> words = mixed_words(*layout);
  const Json all = to_json(StepResults(layout, words));
  EXPECT_EQ(all.size(), layout->results().size());
  EXPECT_TRUE(all["n.sum"].is_string()) << all["n.sum"];
  EXPECT_EQ(all["n.sum"].get<std::string>(), to_text(StepResults(layout, words).find("n.sum")));
  EXPECT_EQ(all["solver.restarts"], -3);
  layout->gather({}, nullptr, words);
  const Json none = to_json(StepResults(layout, words));
  for (const auto& [name, value] : none.items()) EXPECT_TRUE(value.is_null()) << name;
  EXPECT_EQ(to_json(StepResults(layout, words), 4).size(), 4u);
}

}  // namespace
}  // namespace ringside
