// SPDX-License-Identifier: BSD-3-Clause
// Analyses that work while a run is in progress. They begin when the run's producer attaches, and send their results to
// the run's analyzer. After the run, they have a limited time to analyze the steps that are still kept. Results that
// the analyzer did not take are then written to the journal.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/analyses/analysis_channel.hpp"
#include "cli/analyses/analysis_workers.hpp"
#include "common/kernels/hash.hpp"

namespace ringside {

struct LiveRun {
  std::string pool;
  std::string socket;       // the socket of the run's analyzer; empty: no analyzer that takes results was found
  bool is_ours = false;     // `ringside run` started this process and sends SIGTERM at the end of the run
  double timeout_s = 10;    // how long the analyses may work after the run's end
};

/// The newest step of a pool at one moment, and the run of this step.
struct NewestKept {
  Id128 pool_id;
  std::string run_id;      // the run of the newest step, in hexadecimal digits
  StepPlace newest;
  StepPlace first_of_run;  // the oldest kept step of that run

  /// The place of the step before `first_of_run`, assuming evenly spaced iterations.
  StepPlace before_run() const noexcept;
};

/// The newest step that the pool keeps. Empty if the pool cannot be read, or keeps no step.
std::optional<NewestKept> newest_kept(const std::string& pool);

class LiveAnalysis {
 public:
  /// before: what the pool kept before the run began, if the run started this process. `workers` and `signals` must
  /// outlive this object.
  LiveAnalysis(const LiveRun& run, const std::optional<NewestKept>& before, AnalysisWorkers& workers,
               StopSignals& signals);

  /// Returns when all steps are analyzed and all results are recorded. The exit code is 130 after an interruption
  /// (SIGINT), that of the failure if results could not be recorded, else 0. on_results: receives all results, in
  /// addition to the analyzer.
  ExitCode follow(const AnalysisWorker::OnResults& on_results);

 private:
  void look_at_signals();
  void begin_if_attached();
  void begin_at_kept();
  void begin(const FollowedRun& run);
  void look_for_the_end();
  void finish();
  ExitCode keep_rest();

  const LiveRun run_;
  const std::optional<NewestKept> before_;
  AnalysisWorkers& workers_;
  StopSignals& signals_;
  std::optional<AnalysisChannel> channel_;
  std::vector<wire::AnalysisResults> rest_;  // results that no analyzer took
  std::optional<FollowedRun> begun_;
  bool is_over_ = false;
  bool interrupted_ = false;
  std::int64_t deadline_ns_ = 0;
  std::int64_t ownerless_since_ns_ = 0;
  std::int64_t looked_ns_ = 0;  // when this object last checked whether the run has ended
};

}  // namespace ringside
