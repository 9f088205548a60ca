// SPDX-License-Identifier: BSD-3-Clause
// All runs of a journal, from its records in order: their ids, how they ended, their sums, and the course of one
// result. The memory for a run does not grow with its steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_history/course_series.hpp"
#include "cli/run_history/step_totals.hpp"
#include "common/records/result_names.hpp"
#include "common/records/shown_results.hpp"
#include "proto/ringside.pb.h"

namespace ringside {

struct RecordedRun {
  std::string run_id;                       // 16 bytes
  std::optional<wire::RunStarted> started;  // from the newest attachment; empty if that record is no longer kept
  std::optional<wire::RunEnded> ended;      // empty during the run, or if no record describes its end
  std::string version;                      // version of the analyzer that wrote the run's last record; empty: unknown
  StepTotals totals;
  ShownNames course;  // the names of the results in `series`; empty before the first step
  CourseSeries series;
  std::uint64_t first_iteration = 0;
  std::int64_t first_unix_ns = 0;  // times of the run's first and last record
  std::int64_t last_unix_ns = 0;
  CoursePoint last;  // the point of the newest step; iteration 0: there is no step
};

class RecordedRuns {
 public:
  /// course: the full name of the result for `series`; empty: the result that ShownNames chooses.
  explicit RecordedRuns(std::string course = {}) : wanted_(std::move(course)) {}

  /// Has the same effect as RunHistory::learn.
  void learn(const wire::Record& record) { names_.learn(record); }
  void learn(const SharedLayout& layout) { names_.learn(layout); }

  /// Adds the next record, in ascending order of seq. Returns the record's run; null if it belongs to no run. After the
  /// record of a step, the run's `last` is the point of that step.
  const RecordedRun* add(const wire::Record& record);

  /// All runs, in the order of their first records. Pointers to the runs are valid until the next `add`.
  const std::vector<RecordedRun>& runs() const noexcept { return runs_; }
  const ResultNames& names() const noexcept { return names_; }

 private:
  struct Clock {  // the clock of a run's newest attachment
    std::uint64_t step = 0;
    std::int64_t published_at_ns = 0;
    bool runs = false;
  };
  RecordedRun& run_of(const std::string& run_id, std::int64_t unix_ns);
  void add(RecordedRun& run, Clock& clock, const wire::StepRecord& step);

  std::string wanted_;
  std::string version_;
  ResultNames names_;
  std::vector<RecordedRun> runs_;
  std::vector<Clock> clocks_;  // one for each of runs_
  std::size_t current_ = 0;    // the run of the last record
  SharedLayout layout_;        // the layout to which the names below belong
  ShownNames shown_;
  const RecordedResult* result_ = nullptr;
};

/// "running", "done", "interrupted", "failed" or "lost". is_live: whether the run's analyzer is alive.
std::string state_of(const RecordedRun& run, bool is_live);

}  // namespace ringside
