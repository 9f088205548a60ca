// SPDX-License-Identifier: BSD-3-Clause
// The course of one result over a run, in bounded memory: neighbouring points are put together when there are too many.
// A group keeps its last point, so that the newest one is always exact.
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

/// What users' analyses computed of a run's steps, by name. Such a result comes later than the record of its step, so
/// it has a series of its own.
class AnalysisSeries {
 public:
  static constexpr std::size_t kMostNames = 64;

  struct Course {
    CourseSeries series;        // each point has the seq of its record
    std::uint64_t skipped = 0;  // steps that the analysis could not follow, so far
  };

  /// record: has analysis results. Names beyond the first kMostNames are counted only.
  void add(const wire::Record& record);

  const std::map<std::string, Course>& courses() const noexcept { return courses_; }
  /// Values that belong to names beyond the first kMostNames.
  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  std::map<std::string, Course> courses_;
  std::uint64_t left_out_ = 0;
};

}  // namespace ringside
