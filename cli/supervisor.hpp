// Looks after the two processes of a run until both have ended: takes in their reports, shows progress, passes signals
// on.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/child.hpp"
#include "cli/progress.hpp"
#include "common/error.hpp"
#include "common/unique_fd.hpp"

namespace ringside {

/// What a process reported so far: the newest figures over the older ones.
struct Reported {
  nlohmann::json figures;        // null until the first line of progress
  bool ready = false;            // the analyzer listens
  std::int64_t heard_at_ns = 0;  // CLOCK_MONOTONIC of the last line, whatever it said
};

class Supervisor {
 public:
  /// Blocks SIGINT, SIGTERM and SIGHUP for this process and takes them in itself from here on.
  /// kill_after_s: how long a process that was told to stop may make us wait.
  Supervisor(bool show_progress, double kill_after_s);

  /// Waits until `analyzer` listens. False if it ended first, or if we were interrupted.
  bool wait_until_ready(Child& analyzer);

  /// Waits until both have ended. `analyzer` may be null (the baseline).
  void wait_until_ended(Child& producer, Child* analyzer);

  const Reported& producer() const noexcept { return producer_; }
  const Reported& analyzer() const noexcept { return analyzer_; }
  bool interrupted() const noexcept { return interrupts_ > 0; }

 private:
  void wait_once(Child* producer, Child* analyzer);
  void take_in(Child& child, Reported& reported);
  void pass_on_signals(Child* producer, Child* analyzer);

  UniqueFd signals_;
  std::int64_t kill_after_ns_;
  ProgressLine progress_;
  Reported producer_;
  Reported analyzer_;
  int interrupts_ = 0;
};

}  // namespace ringside
