// SPDX-License-Identifier: BSD-3-Clause
// The course of one result over a run, in bounded memory: neighbouring points are put together when there are too many.
// A group keeps its last point, so that the newest one is always exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringside {

struct CoursePoint {
  std::uint64_t iteration = 0;
  std::int64_t elapsed_ns = 0;  // from the start of the run's first recorded step
  double value = 0;             // NaN: the step does not have it
  std::uint64_t seq = 0;        // of its record, where a reader asks for later ones
};

class CourseSeries {
 public:
  static constexpr std::size_t kMost = 1024;

  explicit CourseSeries(std::size_t most = kMost) : most_(most) {}

  /// The next point, in the order of the steps.
  void add(const CoursePoint& point);
  const std::vector<CoursePoint>& points() const noexcept { return points_; }

 private:
  std::size_t most_;
  std::vector<CoursePoint> points_;
  std::uint64_t each_ = 1;     // steps of a full group
  std::uint64_t in_last_ = 0;  // steps of the last group
};

}  // namespace ringside
