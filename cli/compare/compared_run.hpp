// SPDX-License-Identifier: BSD-3-Clause
// One run as `ringside compare` reads it from a pool, a journal or a summary: its facts, how long solver and analyzer
// worked and waited, and its steps. Each source is read once; kept iterates are compared in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/compare/run_facts.hpp"
#include "cli/run_history/recorded_runs.hpp"
#include "common/journal/journal_reader.hpp"
#include "common/json/json.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/records/step_results.hpp"

namespace ringside {

/// The times of a run in seconds, as in the summary. A time that the source does not have is empty.
struct RunTimes {
  std::optional<double> total_s;
  std::optional<double> generate_s;
  std::optional<double> producer_idle_s;
  std::optional<double> transfer_s;
  std::optional<double> commit_s;
  std::optional<double> analyze_s;
  std::optional<double> record_s;
  std::optional<double> analyzer_idle_s;

  std::optional<double> producer_idle_share() const;
  std::optional<double> analyzer_idle_share() const;
};

/// A time of RunTimes: its key in a summary, its name in a table, and its sum in a journal. `ns` is null if a journal
/// has no such sum.
struct RunTime {
  const char* key;
  const char* name;
  std::optional<double> RunTimes::*seconds;
  std::int64_t StepSums::*ns;
};
inline constexpr RunTime kRunTimes[] = {
    {"total_s", "total", &RunTimes::total_s, nullptr},
    {"generate_s", "generate", &RunTimes::generate_s, &StepSums::generate_ns},
    {"producer_idle_s", "producer idle", &RunTimes::producer_idle_s, &StepSums::producer_idle_ns},
    {"transfer_s", "transfer", &RunTimes::transfer_s, &StepSums::transfer_ns},
    {"commit_s", "commit", &RunTimes::commit_s, &StepSums::commit_ns},
    {"analyze_s", "analyze", &RunTimes::analyze_s, &StepSums::analyze_ns},
    {"record_s", "record", &RunTimes::record_s, &StepSums::record_ns},
    {"analyzer_idle_s", "analyzer idle", &RunTimes::analyzer_idle_s, &StepSums::analyzer_idle_ns}};

/// A step: its point in the run's course, and the place of its results.
struct ComparedStep {
  CoursePoint point;
  bool rebuilt = false;
  std::string_view record;  // from the journal; empty: the results are in `of_ring`
  std::size_t of_ring = 0;
};

class ComparedRun {
 public:
  /// name: a pool, a journal's file, or a summary. For the first two, NAME@ID selects the run whose id begins with ID;
  /// otherwise the newest run is taken. result: the name of the result that is taken as the course; empty: the run's
  /// own course. Throws Error: exit code 2 if the file or the run does not exist, or the file is of another kind; other
  /// errors have the exit codes of JournalReader and RingReader.
  static ComparedRun read(const std::string& name, const std::string& result);

  std::string name;    // as given
  std::string kind;    // "pool", "journal", "summary"
  std::string path;    // the path of the pool or the summary
  std::string run_id;  // 32 digits; empty: not known
  std::string started;
  std::string state;
  std::optional<std::uint64_t> iterations;
  std::vector<RunFact> facts;
  RunTimes times;
  ShownNames course;
  std::vector<ComparedStep> steps;   // by ascending iteration, one step per iteration
  std::vector<CoursePoint> series;   // the course, in bounded length
  std::optional<double> last_value;  // the last value of the course
  std::vector<std::string> notices;
  bool damaged = false;  // whether the run's journal is damaged

  /// The pool's ring; null if no pool can be read.
  const RingView* ring() const noexcept { return reader_ ? &reader_->ring() : nullptr; }
  /// The iterates of this run that the pool keeps now, by ascending iteration.
  std::vector<KeptSlot> kept() const;
  StepResults results(const ComparedStep& step) const;

 private:
  void read_summary(const std::string& text);
  void open_pool(bool has_journal);
  void read_pool(const std::string& run, const std::string& result);
  void take_steps(const RecordedRun& run, std::vector<ComparedStep> found);
  void add_kept(const std::string& result);
  void describe(const RecordedRun& run);
  void describe(const RunDescription& run);
  std::string chosen_run(const std::string& prefix, const std::vector<RecordedRun>& journaled) const;

  std::unique_ptr<JournalReader> journal_;  // ComparedStep::record is a view into it
  std::optional<RingReader> reader_;
  ResultNames names_;
  std::vector<StepResults> of_ring_;
};

}  // namespace ringside
