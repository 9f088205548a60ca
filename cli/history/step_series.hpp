// A run's steps as a viewer can hold them: the newest each for itself, older ones in groups that grow as the run gets
// longer, so that hours fit into a few hundred kilobytes and the whole of the run stays in sight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "proto/ringside.pb.h"

namespace ringside {

/// One step, or consecutive ones: durations and counts are sums over them, everything else is the last one's.
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
  std::int64_t hand_off_max_ns = 0;  // the largest of them
  std::uint64_t bytes_transferred = 0;
  std::uint64_t skipped = 0;

  double residual_l1 = 0;
  double residual_linf = 0;
  wire::Reductions reductions;
  std::uint64_t steps_committed = 0;  // of its attachment, with this one
  bool rebuilt = false;               // what the analyzer measured is not known
};

SeriesPoint point_of(const wire::Record& record);

class StepSeries {
 public:
  static constexpr std::size_t kExact = 512;
  static constexpr std::size_t kGroups = 1024;

  /// exact: so many of the newest stay single. groups: so many points stand for what is older, at most.
  explicit StepSeries(std::size_t exact = kExact, std::size_t groups = kGroups) : most_exact_(exact), most_(groups) {}

  /// Requires a seq above all before it.
  void add(const SeriesPoint& step);

  /// Ascending; those that hold `seq` or what came after it, at most `limit`.
  std::vector<SeriesPoint> from(std::uint64_t seq, std::size_t limit) const;
  /// The newest `count` steps that are kept single, ascending.
  std::vector<SeriesPoint> newest(std::size_t count) const;
  std::size_t size() const noexcept { return groups_.size() + exact_.size(); }

 private:
  void group(const SeriesPoint& step);

  std::size_t most_exact_;
  std::size_t most_;
  std::deque<SeriesPoint> exact_;
  std::vector<SeriesPoint> groups_;
  std::uint64_t steps_each_ = 1;  // a group is full with so many
};

}  // namespace ringside
