// SPDX-License-Identifier: BSD-3-Clause
// Analyses of a run that goes on: they begin when it is attached, their results go to its analyzer, and after its end they
// get a bounded time for the steps that are still kept. Results that the analyzer did not take go to the journal then.
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
  std::string socket;       // of its analyzer; empty: none that takes results was found
  bool is_ours = false;     // `ringside run` started this process, and tells by SIGTERM that the run is over
  double timeout_s = 10;    // that analyses get after its end
};

/// What a pool kept at some moment.
struct NewestKept {
  Id128 pool_id;
  std::string run_id;      // of the newest step, hexadecimal digits
  StepPlace newest;
  StepPlace first_of_run;  // the oldest kept step of that run

  /// The step before the oldest kept one of that run, if their iterations are evenly spaced.
  StepPlace before_run() const noexcept;
};

/// Nothing if there is no pool that can be read, or it keeps no step.
std::optional<NewestKept> newest_kept(const std::string& pool);

class LiveAnalysis {
 public:
  /// before: what the pool kept before the run began, of a run of ours. Keeps the references.
  LiveAnalysis(const LiveRun& run, const std::optional<NewestKept>& before, AnalysisWorkers& workers,
               StopSignals& signals);

  /// Returns when all is done: exit code 130 if a person had enough (SIGINT), that of the failure if results could not
  /// be recorded, else 0. on_results: also gets what was computed.
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
  std::vector<wire::AnalysisResults> rest_;  // that no analyzer took
  std::optional<FollowedRun> begun_;
  bool is_over_ = false;
  bool interrupted_ = false;
  std::int64_t deadline_ns_ = 0;
  std::int64_t ownerless_since_ns_ = 0;
  std::int64_t looked_ns_ = 0;  // for the end
};

}  // namespace ringside
