// SPDX-License-Identifier: BSD-3-Clause
// The processes of all files of analyses: started with an interpreter that has the package, loaded before anything begins,
// then waited for together.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "cli/analyses/analysis_output.hpp"
#include "cli/analyses/analysis_worker.hpp"
#include "cli/analyses/stop_signals.hpp"
#include "common/json/json.hpp"

namespace ringside {

class AnalysisWorkers {
 public:
  /// python: --python; empty: chosen. Waits until every file is imported. Throws Error: exit code 2 for a file that cannot
  /// be used, with its line; 3 if no Python has the package ringside; 130 once a signal has come.
  AnalysisWorkers(const std::vector<std::string>& files, const std::string& pool, const std::string& python,
                  std::size_t threads, StopSignals& signals);

  /// Ends what is left of their process groups: a process that a function has started and not waited for, too.
  ~AnalysisWorkers();
  AnalysisWorkers(const AnalysisWorkers&) = delete;
  AnalysisWorkers& operator=(const AnalysisWorkers&) = delete;

  void follow(const FollowedRun& run);
  void look_at_kept(std::uint64_t first, std::uint64_t last);
  void end();
  /// Ends those that still run; they are said to have been late for that reason.
  void kill(const std::string& why);
  /// Adds what those that ended early did not see of a run, up to that step, to their skipped steps.
  void count_rest(const StepPlace& newest);
  void count_rest(const std::vector<StepPlace>& kept);

  /// From now on these processes and this one run only where nothing else wants to.
  void take_lowest_priority() const noexcept;

  bool any_running() const noexcept;
  /// Of those that still run: whether one has not looked at everything yet.
  bool any_busy() const noexcept;
  bool any_stopped() const noexcept;
  /// Those that have looked at steps of which each one failed: "energy: each of its 8 calls failed".
  std::vector<std::string> all_failed() const;

  /// Waits until one of them has written something or has ended, a signal has come, or the time is over. reads_results:
  /// false leaves their results where they are.
  void wait(const StopSignals& signals, int timeout_ms, bool reads_results);
  void take_in(const AnalysisWorker::OnResults& on_results, bool reads_results);
  /// The last time: says, too, how much of what they printed was left out.
  void take_in_rest(const AnalysisWorker::OnResults& on_results);

  /// [{name, file, steps, skipped, failed, last, ended}]; ended: why it did so early, or null.
  Json to_json() const;

 private:
  bool load(const std::vector<std::string>& files, const std::string& pool, const std::string& python,
            std::size_t threads, StopSignals& signals, std::string& why_not);
  void check_names() const;

  std::list<AnalysisWorker> workers_;
  std::vector<AnalysisOutput> outputs_;  // of each
  std::vector<bool> said_;               // of each that ended early: it was said
};

}  // namespace ringside
