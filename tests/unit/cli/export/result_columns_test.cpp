// SPDX-License-Identifier: BSD-3-Clause
// Results as columns of a table: absent values, and integers of 128 bits.
#include "cli/export/formats/result_columns.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>

#include "common/records/record_layout.hpp"

namespace ringside {
namespace {

/// A run with one scalar of each type. The words are in the order of RecordLayout::gather: absence bits, f64, i64.
StepResults step_with(std::uint64_t absent, double f64, std::int64_t i64) {
  static const auto layout = std::make_shared<const RecordLayout>(
      Schema::of({{.name = "s", .role = Role::kState}}),
      Catalogue::of(Schema::of({{.name = "s", .role = Role::kState}}), {},
                    std::vector<Scalar>{{.name = "rho", .type = ValueType::kF64, .unit = "m"},
                                        {.name = "sweeps", .type = ValueType::kI64, .unit = ""}}));
  const std::uint64_t words[] = {absent, std::bit_cast<std::uint64_t>(f64), static_cast<std::uint64_t>(i64)};
  return {layout, words};
}

TEST(ResultColumnsTest, AnAbsentValueIsNanOrTheFillValue) {
  ExportColumns columns;
  columns.add(step_with(0, 0.5, 7));
  columns.add(step_with(3, 0, 0));
  ASSERT_EQ(columns.columns().size(), 2u);
  const ResultColumn& rho = columns.columns()[0];
  EXPECT_EQ(rho.name, "solver.rho");
  EXPECT_EQ(rho.unit, "m");
  EXPECT_FALSE(rho.is_integer());
  EXPECT_EQ(rho.f64()[0], 0.5);
  EXPECT_TRUE(std::isnan(rho.f64()[1]));
  EXPECT_EQ(columns.columns()[1].i64(), (std::vector<std::int64_t>{7, kAbsentInteger}));
}

TEST(ResultColumnsTest, AStepWithOtherResultsHasNoValueInTheColumnsOfTheOthers) {
  ExportColumns columns;
  columns.add(step_with(0, 0.5, 7));
  columns.add(StepResults());
  const std::vector<std::uint64_t> words = {0, std::bit_cast<std::uint64_t>(2.5)};
  columns.add(StepResults(ColumnCounts{.f64 = 1}, words));
  ASSERT_EQ(columns.columns().size(), 3u);
  for (const ResultColumn& column : columns.columns()) EXPECT_EQ(column.values.size(), 3u) << column.name;
  EXPECT_EQ(columns.columns()[2].name, "#0");
  EXPECT_TRUE(std::isnan(columns.columns()[2].f64()[0]));
  EXPECT_EQ(columns.columns()[2].f64()[2], 2.5);
}

TEST(ResultColumnsTest, AnIntegerBeyond64BitsMakesItsColumnOneOfDoubles) {
  const ColumnCounts counts{.i128 = 1};
  const std::vector<std::uint64_t> small = {0, static_cast<std::uint64_t>(-5), ~std::uint64_t{0}};
  const std::vector<std::uint64_t> large = {0, 0, 1};  // 2^64
  ExportColumns columns;
  columns.add(StepResults(counts, small));
  EXPECT_TRUE(columns.columns()[0].is_integer());
  EXPECT_EQ(columns.columns()[0].i64(), std::vector<std::int64_t>{-5});
  columns.add(StepResults(counts, large));
  EXPECT_FALSE(columns.columns()[0].is_integer());
  EXPECT_EQ(columns.columns()[0].f64(), (std::vector<double>{-5, 18446744073709551616.0}));
}

}  // namespace
}  // namespace ringside
