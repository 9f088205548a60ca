// SPDX-License-Identifier: BSD-3-Clause
#include "cli/node/plan_table.hpp"

#include <gtest/gtest.h>

#include <string>

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
  const std::string table = table_of(plan);
  EXPECT_NE(table.find("total   expected   90 %"), std::string::npos) << table;
  EXPECT_NE(table.find("3 s        4 s"), std::string::npos) << table;
  plan.best = 0;
  plan.rows[0].expected_s = 3.5;
  EXPECT_EQ(table_of(plan).find("total   expected"), std::string::npos) << table_of(plan);
}

TEST(PlanTableTest, ARowThatIsChosenBecauseItIsSimplerSaysSo) {
  Plan plan;
  plan.rows = {row_with(2.0, 4.001), row_with(3.0, 4.0)};
  EXPECT_NE(table_of(plan).find("simplest of those within half a percent: "), std::string::npos) << table_of(plan);
  plan.best = 1;
  EXPECT_EQ(table_of(plan).find("simplest"), std::string::npos) << table_of(plan);
}

TEST(PlanTableTest, OnePassIsSingular) {
  Plan plan;
  plan.rows = {row_with(2.0, 4.0)};
  EXPECT_NE(table_of(plan).find(", 1 pass, "), std::string::npos) << table_of(plan);
}

}  // namespace
}  // namespace ringside
