// SPDX-License-Identifier: BSD-3-Clause
// A run's steps in bounded memory: the newest are kept individually, older ones in groups that grow with the run. The
// steps of several hours then fit into a few hundred kilobytes, and a user still sees the whole run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "common/records/shown_results.hpp"
#include "common/records/step_results.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// The most results of a run that have a series, a metric or a line in a chart: these are the first ones in the run's
/// catalogue.
inline constexpr std::size_t kMostPlotted = 256;

/// One step, or a group of consecutive steps: durations and counts are sums, other fields are those of the last step.
struct SeriesPoint {
  std::uint64_t first_seq = 0;
  std::uint64_t seq = 0;
  std::uint64_t steps = 1;
  std::int64_t unix_ns = 0;
  std::uint64_t step = 0;
  std::uint64_t iteration = 0;
  std::uint64_t commit_seq = 0;

  std::int64_t generate_ns = 0;
  std::int64_t producer_idle_ns = 0;
  std::int64_t analyzer_idle_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t commit_ns = 0;
  std::int64_t analyze_ns = 0;
  std::int64_t record_ns = 0;
  std::int64_t hand_off_max_ns = 0;  // the largest value in the group
  std::uint64_t bytes_transferred = 0;
  std::uint64_t skipped = 0;

  ShownFigures shown;
  std::vector<double> values;         // values of the results, at most kMostPlotted; NaN for an absent result
  std::vector<bool> present;          // for each of `values`
  SharedLayout layout;                // the layout with the names of `values`; null: unknown
  std::uint64_t steps_committed = 0;  // the number in the step's attachment, including this step
  bool rebuilt = false;               // whether the analyzer's durations of at least one step are unknown
};

/// results: the results of the step in `record`.
SeriesPoint point_of(const wire::Record& record, const StepResults& results);

/// The value of the result `full_name` in a point, which may be NaN; empty if the point does not contain the result.
std::optional<double> value_of(const SeriesPoint& point, std::string_view full_name);

class StepSeries {
 public:
  static constexpr std::size_t kExact = 512;
  static constexpr std::size_t kGroups = 1024;

  /// exact: the number of the newest steps that are kept individually. groups: the most points for all older steps.
  explicit StepSeries(std::size_t exact = kExact, std::size_t groups = kGroups) : most_exact_(exact), most_(groups) {}

  /// Adds the next step. Its seq must be greater than those of all earlier steps.
  void add(const SeriesPoint& step);

  /// At most `limit` points from record `seq` on, in ascending order.
  std::vector<SeriesPoint> from(std::uint64_t seq, std::size_t limit) const;
  /// The newest `count` of the steps that are kept individually, in ascending order.
  std::vector<SeriesPoint> newest(std::size_t count) const;
  std::size_t size() const noexcept { return groups_.size() + exact_.size(); }

 private:
  void group(const SeriesPoint& step);

  std::size_t most_exact_;
  std::size_t most_;
  std::deque<SeriesPoint> exact_;
  std::vector<SeriesPoint> groups_;
  std::uint64_t steps_each_ = 1;  // the number of steps of a full group
};

}  // namespace ringside
