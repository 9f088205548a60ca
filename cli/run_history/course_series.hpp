// SPDX-License-Identifier: BSD-3-Clause
// The course of one result over a run, in bounded memory: if there are too many points, neighbouring ones are merged. A
// group keeps its last point, so that the newest point is always exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/ringside.pb.h"

namespace ringside {

struct CoursePoint {
  std::uint64_t iteration = 0;
  std::int64_t elapsed_ns = 0;  // from the start of the run's first recorded step
  double value = 0;             // NaN: the step lacks the result
  std::uint64_t seq = 0;        // seq of the step's record; set in a series from which readers request later points
};

class CourseSeries {
 public:
  static constexpr std::size_t kMost = 1024;

  explicit CourseSeries(std::size_t most = kMost) : most_(most) {}

  /// Adds the next point, in the order of the steps.
  void add(const CoursePoint& point);
  const std::vector<CoursePoint>& points() const noexcept { return points_; }

 private:
  std::size_t most_;
  std::vector<CoursePoint> points_;
  std::uint64_t each_ = 1;     // the number of steps of a full group
  std::uint64_t in_last_ = 0;  // the number of steps of the last group
};

/// The results of users' analyses of a run's steps, by name. They arrive later than the records of their steps and are
/// therefore in separate series.
class AnalysisSeries {
 public:
  static constexpr std::size_t kMostNames = 64;

  struct Course {
    CourseSeries series;        // each point has the seq of its record
    std::uint64_t skipped = 0;  // the number of steps so far that the analysis had to skip
  };

  /// Adds the results in a record. Names beyond the first kMostNames are only counted.
  void add(const wire::Record& record);

  const std::map<std::string, Course>& courses() const noexcept { return courses_; }
  /// The number of values under names beyond the first kMostNames.
  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  std::map<std::string, Course> courses_;
  std::uint64_t left_out_ = 0;
};

}  // namespace ringside
