// SPDX-License-Identifier: BSD-3-Clause
#include "cli/node/plan_table.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/expect_text.hpp"

namespace ringside {
namespace {

PlanRow row_with(double total_s, double expected_s) {
  PlanRow row;
  row.prediction.total_s = total_s;
  row.expected_s = expected_s;
  return row;
}

std::string table_of(const Plan& plan) {
  PlanRequest request;
  request.run.passes = 1;
  return plan_table(Node(), request, plan);
}

TEST(PlanTableTest, TheExpectedTimesAreShownIfTheTotalsWouldNameAnotherRow) {
  Plan plan;
  plan.rows = {row_with(2.0, 4.5), row_with(3.0, 4.0)};
  plan.best = 1;
  expect_has(table_of(plan), {"total   expected   90 %", "3 s        4 s"});
  plan.best = 0;
  plan.rows[0].expected_s = 3.5;
  expect_lacks(table_of(plan), {"total   expected"});
}

TEST(PlanTableTest, ARowThatIsChosenBecauseItIsSimplerSaysSo) {
  Plan plan;
  plan.rows = {row_with(2.0, 4.001), row_with(3.0, 4.0)};
  expect_has(table_of(plan), {"the simplest choice within half a percent of it): "});
  plan.best = 1;
  expect_lacks(table_of(plan), {"simplest"});
}

TEST(PlanTableTest, OnePassIsSingular) {
  Plan plan;
  plan.rows = {row_with(2.0, 4.0)};
  expect_has(table_of(plan), {", 1 pass, "});
}

}  // namespace
}  // namespace ringside
