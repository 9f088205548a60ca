// SPDX-License-Identifier: BSD-3-Clause
// What users' analyses computed of a run's steps, by name, in bounded memory. Such a result comes later than the record
// of its step, so it has a series of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "cli/history/course_series.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

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
