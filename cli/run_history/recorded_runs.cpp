// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_history/recorded_runs.hpp"

#include <algorithm>
#include <limits>

#include "common/records/record_message.hpp"

namespace ringside {
const RecordedRun* RecordedRuns::add(const wire::Record& record) {
  names_.learn(record);
  if (record.has_analyzer_started()) version_ = record.analyzer_started().version();
  const std::string& run_id = run_id_of(record);
  if (run_id.empty()) return nullptr;
  RecordedRun& run = run_of(run_id, record.unix_ns());
  if (record.has_analysis_results()) return &run;  // these records may arrive long after the run's end
  run.last_unix_ns = record.unix_ns();
  if (!version_.empty()) run.version = version_;
  switch (record.what_case()) {
    case wire::Record::kStep: add(run, clocks_[current_], record.step()); break;
    case wire::Record::kRunStarted:
      run.started = record.run_started();
      run.ended.reset();
      // An analyzer that took over continues the attachment.
      if (record.run_started().from_step() == 0) clocks_[current_].runs = false;
      break;
    case wire::Record::kRunEnded:
      run.ended = record.run_ended();
      run.totals.steps_persisted = std::max(run.totals.steps_persisted, record.run_ended().steps_persisted());
      break;
    case wire::Record::kRecordsMissing: run.totals.add(record.records_missing()); break;
    default: break;
  }
  return &run;
}

RecordedRun& RecordedRuns::run_of(const std::string& run_id, std::int64_t unix_ns) {
  if (current_ < runs_.size() && runs_[current_].run_id == run_id) return runs_[current_];
  const auto found =
      std::find_if(runs_.begin(), runs_.end(), [&run_id](const RecordedRun& run) { return run.run_id == run_id; });
  current_ = static_cast<std::size_t>(found - runs_.begin());
  if (found != runs_.end()) return *found;
  RecordedRun& run = runs_.emplace_back();
  clocks_.emplace_back();
  run.run_id = run_id;
  run.first_unix_ns = unix_ns;
  return run;
}

void RecordedRuns::add(RecordedRun& run, Clock& clock, const wire::StepRecord& step) {
  const StepResults results = names_.results(step);
  if (results.layout() != layout_ || !layout_) {
    layout_ = results.layout();
    shown_ = shown_names(results);
    if (!wanted_.empty()) shown_ = {.course = wanted_, .course_linf = {}, .is_change = shown_.course == wanted_};
    result_ = layout_ ? layout_->find(shown_.course) : nullptr;
  }
  if (run.course.course != shown_.course && !shown_.course.empty()) run.course = shown_;
  run.totals.add(step);
  // The total time is measured from one publication to the next, so it includes steps without a record. If a record
  // lacks the instant of publication, or if the instant is from another boot of the machine, the producer's durations
  // of this step are added instead.
  const std::int64_t worked_ns = step.generate_ns() + step.producer_idle_ns();
  const std::int64_t since_ns = step.published_at_ns() - clock.published_at_ns;
  const bool continues = clock.runs && step.step() > clock.step && since_ns >= 0 && clock.published_at_ns > 0;
  if (run.last.iteration == 0) run.first_iteration = step.iteration();
  const std::int64_t elapsed_ns = run.last.elapsed_ns + (continues ? since_ns : worked_ns);
  clock = {.step = step.step(), .published_at_ns = step.published_at_ns(), .runs = true};
  const double value =
      result_ != nullptr ? results.value_of(*result_).as_double() : std::numeric_limits<double>::quiet_NaN();
  run.last = {.iteration = step.iteration(), .elapsed_ns = elapsed_ns, .value = value};
  run.series.add(run.last);
}

std::string state_of(const RecordedRun& run, bool is_live) {
  if (!run.ended) return is_live ? "running" : "lost";
  const wire::RunEnded& end = *run.ended;
  if (end.how() == "producer_lost") return "lost";
  if (end.exit_code() == 0 && (end.outcome() == "finished" || end.outcome().empty())) return "done";
  if (end.exit_code() == 130 || end.outcome() == "interrupted") return "interrupted";
  return "failed";
}

}  // namespace ringside
