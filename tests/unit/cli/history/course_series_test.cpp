// SPDX-License-Identifier: BSD-3-Clause
#include "cli/history/course_series.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(CourseSeriesTest, KeepsTheFirstAndTheNewestPointWithinItsLimit) {
  CourseSeries series(8);
  for (std::uint64_t k = 1; k <= 1000; ++k) {
    series.add({k, static_cast<std::int64_t>(10 * k), static_cast<double>(k)});
    ASSERT_LE(series.points().size(), 8u);
    ASSERT_EQ(series.points().front().iteration, 1u);
    ASSERT_EQ(series.points().back().iteration, k);
    for (std::size_t i = 1; i < series.points().size(); ++i) {
      ASSERT_LT(series.points()[i - 1].iteration, series.points()[i].iteration);
    }
  }
  EXPECT_GE(series.points().size(), 4u);
}

}  // namespace
}  // namespace ringside
