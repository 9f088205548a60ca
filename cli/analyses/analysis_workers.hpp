// SPDX-License-Identifier: BSD-3-Clause
// The processes of all files of analyses. Each process starts with an interpreter that has the package, and imports its
// file before the run begins. From then on, one call waits for all processes together.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "cli/analyses/analysis_output.hpp"
#include "cli/analyses/analysis_worker.hpp"
#include "cli/supervision/stop_signals.hpp"
#include "common/json/json.hpp"

namespace ringside {

class AnalysisWorkers {
 public:
  /// python: the value of --python; empty: the interpreter is chosen. Waits until every file is imported. Throws Error:
  /// exit code 2, with the process's line, for a file that cannot be used; 3 if no Python has the package ringside; 130
  /// after a signal.
  AnalysisWorkers(const std::vector<std::string>& files, const std::string& pool, const std::string& python,
                  std::size_t threads, StopSignals& signals);

  /// Ends all remaining processes of the workers' process groups, including a process that a function started and did
  /// not wait for.
  ~AnalysisWorkers();
  AnalysisWorkers(const AnalysisWorkers&) = delete;
  AnalysisWorkers& operator=(const AnalysisWorkers&) = delete;

  void follow(const FollowedRun& run) {
    for (AnalysisWorker& worker : workers_) worker.follow(run);
  }
  void look_at_kept(std::uint64_t first, std::uint64_t last);
  void end() {
    for (AnalysisWorker& worker : workers_) worker.end();
  }
  /// Kills the processes that still run, and records `why` as the reason for their end.
  void kill(const std::string& why);
  /// For processes that ended early: counts as skipped the run's steps up to `newest` that these processes missed.
  void count_rest(const StepPlace& newest);
  void count_rest(const std::vector<StepPlace>& kept);

  /// From now on, these processes and the calling process run only on cores that would otherwise be idle.
  void take_lowest_priority() const noexcept;

  bool any_running() const noexcept;
  /// Whether a process that still runs has not finished all its steps.
  bool any_busy() const noexcept;
  bool any_stopped() const noexcept;
  /// The functions that failed in every call: "energy: each of its 8 calls failed".
  std::vector<std::string> all_failed() const;

  /// Waits until a process has written something or ended, a signal has arrived, or the time is over. reads_results:
  /// whether a result ends the wait; if not, results stay in the pipes.
  void wait(const StopSignals& signals, int timeout_ms, bool reads_results);
  void take_in(const AnalysisWorker::OnResults& on_results, bool reads_results);
  /// Call this function last: it reads what is left in the pipes, and prints how much of the functions' output was left
  /// out.
  void take_in_rest(const AnalysisWorker::OnResults& on_results);

  /// [{name, file, steps, skipped, failed, last, ended}]; ended: why the function's process ended early, or null.
  Json to_json() const;

 private:
  bool load(const std::vector<std::string>& files, const std::string& pool, const std::string& python,
            std::size_t threads, StopSignals& signals, std::string& why_not);
  void check_names() const;

  std::list<AnalysisWorker> workers_;
  std::vector<AnalysisOutput> outputs_;  // one for each worker
  std::vector<bool> said_;               // for each worker: whether its early end was reported
};

}  // namespace ringside
