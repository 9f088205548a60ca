// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_history/step_series.hpp"

#include <algorithm>

#include "common/text/decimal.hpp"

namespace ringside {
namespace {

SeriesPoint merged(const SeriesPoint& older, const SeriesPoint& newer) {
  SeriesPoint both = newer;
  both.first_seq = older.first_seq;
  both.steps += older.steps;
  both.generate_ns += older.generate_ns;
  both.producer_idle_ns += older.producer_idle_ns;
  both.analyzer_idle_ns += older.analyzer_idle_ns;
  both.transfer_ns += older.transfer_ns;
  both.commit_ns += older.commit_ns;
  both.analyze_ns += older.analyze_ns;
  both.record_ns += older.record_ns;
  both.hand_off_max_ns = std::max(both.hand_off_max_ns, older.hand_off_max_ns);
  both.bytes_transferred += older.bytes_transferred;
  both.skipped += older.skipped;
  both.rebuilt = older.rebuilt || newer.rebuilt;
  return both;
}

}  // namespace

SeriesPoint point_of(const wire::Record& record, const StepResults& results) {
  const wire::StepRecord& step = record.step();
  SeriesPoint point;
  point.first_seq = point.seq = record.seq();
  point.unix_ns = record.unix_ns();
  point.step = step.step();
  point.iteration = step.iteration();
  point.commit_seq = step.commit_seq();
  point.generate_ns = step.generate_ns();
  point.producer_idle_ns = step.producer_idle_ns();
  point.analyzer_idle_ns = step.analyzer_idle_ns();
  point.transfer_ns = step.transfer_ns();
  point.commit_ns = step.commit_ns();
  point.analyze_ns = step.analyze_ns();
  point.record_ns = step.record_ns();
  point.hand_off_max_ns = step.hand_off_ns();
  point.bytes_transferred = step.bytes_transferred();
  point.skipped = step.skipped_before();
  point.shown = shown_of(results);
  point.layout = results.layout();
  point.values.reserve(std::min(results.size(), kMostPlotted));
  for (std::size_t i = 0; i < std::min(results.size(), kMostPlotted); ++i) {
    const StepValue value = results.value(i);
    point.values.push_back(value.as_double());
    point.present.push_back(value.present);
  }
  point.steps_committed = step.steps_committed() > 0 ? step.steps_committed() : step.step() + 1;
  point.rebuilt = step.rebuilt();
  return point;
}

std::optional<double> value_of(const SeriesPoint& point, std::string_view full_name) {
  std::optional<std::uint64_t> index;
  if (point.layout) {
    const RecordedResult* recorded = point.layout->find(full_name);
    if (recorded != nullptr) index = static_cast<std::uint64_t>(recorded - point.layout->results().data());
  } else if (full_name.starts_with('#')) {
    index = whole_number(full_name.substr(1));
  }
  if (!index || *index >= point.values.size() || !point.present[*index]) return std::nullopt;
  return point.values[*index];
}

void StepSeries::add(const SeriesPoint& step) {
  exact_.push_back(step);
  if (exact_.size() <= most_exact_) return;
  group(exact_.front());
  exact_.pop_front();
}

void StepSeries::group(const SeriesPoint& step) {
  if (!groups_.empty() && groups_.back().steps < steps_each_) {
    groups_.back() = merged(groups_.back(), step);
    return;
  }
  if (groups_.size() >= most_) {
    for (std::size_t i = 0; i < groups_.size(); i += 2) {
      groups_[i / 2] = i + 1 < groups_.size() ? merged(groups_[i], groups_[i + 1]) : groups_[i];
    }
    groups_.resize((groups_.size() + 1) / 2);
    steps_each_ *= 2;
  }
  groups_.push_back(step);
}

std::vector<SeriesPoint> StepSeries::from(std::uint64_t seq, std::size_t limit) const {
  std::vector<SeriesPoint> points;
  const auto take = [&](const auto& kept) {
    auto at = std::partition_point(kept.begin(), kept.end(), [seq](const SeriesPoint& p) { return p.seq < seq; });
    for (; at != kept.end() && points.size() < limit; ++at) points.push_back(*at);
  };
  take(groups_);
  take(exact_);
  return points;
}

std::vector<SeriesPoint> StepSeries::newest(std::size_t count) const {
  const std::size_t taken = std::min(count, exact_.size());
  return {exact_.end() - static_cast<std::ptrdiff_t>(taken), exact_.end()};
}

}  // namespace ringside
