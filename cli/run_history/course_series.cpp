// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_history/course_series.hpp"

#include <algorithm>

namespace ringside {

void CourseSeries::add(const CoursePoint& point) {
  if (!points_.empty() && in_last_ < each_) {
    points_.back() = point;
    ++in_last_;
    return;
  }
  if (points_.size() >= most_) {
    // Merges pairs of points, from the front. The first point remains single, because a chart begins with it.
    std::size_t kept = 1;
    for (std::size_t i = 2; i < points_.size(); i += 2) points_[kept++] = points_[i];
    if (points_.size() % 2 == 0) points_[kept++] = points_.back();
    points_.resize(kept);
    each_ *= 2;
  }
  points_.push_back(point);
  in_last_ = 1;
}

void AnalysisSeries::add(const wire::Record& record) {
  const wire::AnalysisResults& said = record.analysis_results();
  for (int i = 0; i < std::min(said.name_size(), said.value_size()); ++i) {
    auto found = courses_.find(said.name(i));
    if (found == courses_.end()) {
      if (courses_.size() == kMostNames) {
        ++left_out_;
        continue;
      }
      found = courses_.try_emplace(said.name(i)).first;
    }
    found->second.series.add(
        {.iteration = said.iteration(), .elapsed_ns = 0, .value = said.value(i), .seq = record.seq()});
    found->second.skipped = said.skipped();
  }
}

}  // namespace ringside
