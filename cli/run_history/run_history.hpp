// SPDX-License-Identifier: BSD-3-Clause
// The state of the newest run, derived from its records in order: solver and parameters, steps, sums, and
// hand-off times. `ringside serve` adds records as they arrive, `ringside report` adds those of a journal.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_history/course_series.hpp"
#include "cli/run_history/step_series.hpp"
#include "cli/run_history/step_totals.hpp"
#include "common/records/result_names.hpp"
#include "common/telemetry/latency_histogram.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

/// Times from publishing to the first copied byte: percentiles, and the number of times up to each of several fixed
/// bounds. The counts of several runs can be added.
class HandOffTimes {
 public:
  static constexpr std::array<std::int64_t, 16> kBoundsNs = {
      1'000,   2'000,     5'000,     10'000,    20'000,     50'000,     100'000,     200'000,
      500'000, 1'000'000, 2'000'000, 5'000'000, 10'000'000, 50'000'000, 200'000'000, 1'000'000'000};

  void add(std::int64_t ns) noexcept;
  std::uint64_t count() const noexcept { return count_; }
  std::int64_t sum_ns() const noexcept { return sum_ns_; }
  /// The number of hand-offs that took at most kBoundsNs[i].
  std::uint64_t at_most(std::size_t i) const noexcept;
  std::uint64_t percentile(double share) const noexcept { return histogram_.percentile(share); }
  std::uint64_t max() const noexcept { return histogram_.max(); }

 private:
  LatencyHistogram histogram_;
  std::array<std::uint64_t, kBoundsNs.size() + 1> counts_{};
  std::uint64_t count_ = 0;
  std::int64_t sum_ns_ = 0;
};

struct RunMark {
  std::uint64_t seq = 0;  // seq of the mark's record
  std::int64_t unix_ns = 0;
  std::uint64_t step = 0;
  std::uint64_t iteration = 0;
  std::string cause;  // "trigger", "non_finite", "undefined", "not_archived", "plug_in"
  std::string name;
  std::string text;
  std::vector<std::string> actions;
};

/// The marks of a run in bounded memory. The first and the newest marks are kept, because they show what went wrong
/// first and what is happening now. All marks are counted.
class RunMarks {
 public:
  static constexpr std::size_t kFirst = 64;
  static constexpr std::size_t kNewest = 192;
  static constexpr std::size_t kMostTextBytes = 512;  // longer texts of a journal are cut
  static constexpr int kMostActions = 16;

  /// record: a record that contains a mark.
  void add(const wire::Record& record);

  std::uint64_t count() const noexcept { return count_; }
  /// The kept marks, in the order of their records.
  std::vector<RunMark> kept() const;

 private:
  std::uint64_t count_ = 0;
  std::vector<RunMark> first_;
  std::deque<RunMark> newest_;
};

/// One run.
struct RunView : StepTotals {
  std::string run_id;                       // 16 bytes
  std::optional<wire::RunStarted> started;  // empty if the record of the start is no longer kept
  SharedLayout layout;                      // the layout of the newest step; null: unknown
  std::optional<wire::RunEnded> ended;
  wire::StepRecord last;     // the newest step's record; before the first step, all fields have default values
  StepResults last_results;  // the results of that step
  std::int64_t last_unix_ns = 0;
  HandOffTimes hand_off;
  StepSeries series;
  RunMarks marks;
  std::optional<std::uint64_t> frozen_at_iteration;  // from this iteration on, the ring overwrites no slot
  AnalysisSeries analyses;
};

class RunHistory {
 public:
  /// Takes the names of results from a record. A reader of many records passes all of them before the first `add`,
  /// because the description of a run may follow its first steps.
  void learn(const wire::Record& record) { names_.learn(record); }
  void learn(const SharedLayout& layout) { names_.learn(layout); }

  /// Adds the next record, in ascending order of seq. If a seq is not greater than the last one, an analyzer began a
  /// new numbering, because no journal kept the earlier records. The series then restarts; no step is counted twice.
  void add(const wire::Record& record);

  /// Adds an analyzer's status, which arrives between two steps. It contains the number of persisted steps, and the
  /// parameters if their record is no longer kept.
  void add(const wire::Status& status);

  /// The newest run; empty before the first record of a run.
  const std::optional<RunView>& run() const noexcept { return run_; }
  const std::optional<wire::AnalyzerStarted>& analyzer() const noexcept { return analyzer_; }
  std::uint64_t newest_seq() const noexcept { return newest_seq_; }

 private:
  RunView& run_of(const std::string& run_id);
  /// The run of a record that may arrive late; null if the next run has already begun.
  RunView* current_run(const std::string& run_id) { return run_ && run_->run_id != run_id ? nullptr : &run_of(run_id); }
  void add(const wire::Record& record, const wire::StepRecord& step);

  std::optional<RunView> run_;
  std::optional<wire::AnalyzerStarted> analyzer_;
  ResultNames names_;
  std::uint64_t newest_seq_ = 0;
};

}  // namespace ringside
