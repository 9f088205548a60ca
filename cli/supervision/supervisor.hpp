// SPDX-License-Identifier: BSD-3-Clause
// Supervises the two processes of a run until both have ended: reads their reports, shows progress and passes signals
// on.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/supervision/child.hpp"
#include "cli/supervision/plan_check.hpp"
#include "cli/supervision/progress.hpp"
#include "cli/supervision/stop_signals.hpp"
#include "common/json/json.hpp"
#include "common/platform/error.hpp"

namespace ringside {

/// The sum of two numbers; the sum of two integers is an integer.
Json add(const Json& a, const Json& b);

/// What a process has reported so far; newer figures replace older ones.
struct Reported {
  Json figures;                  // null until the first progress line
  bool ready = false;            // the analyzer listens
  std::int64_t heard_at_ns = 0;  // time of the last line, by the supervisor's clock
};

class Supervisor {
 public:
  virtual ~Supervisor() = default;
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Blocks the stop signals (common/program/stop_signal.hpp) for this process and reads them from a descriptor.
  /// kill_after_s: how long a process that was asked to stop may stay silent before it is killed. progress_in_place:
  /// see ProgressLine.
  Supervisor(bool show_progress, double kill_after_s, bool progress_in_place = true);

  /// From now on the analyzer's figures are compared with a plan; a difference is reported once.
  void compare_with(const PlanCheck& plan) { plan_ = plan; }

  /// From now on, the report and standard error of a further child are read as well. The child must live as long as
  /// this object.
  void watch_beside(Child& child) { beside_ = &child; }
  const Reported& beside() const noexcept { return beside_reported_; }
  /// Waits until the further child is ready. Returns false if it ended first, or if this process was interrupted.
  bool wait_until_beside_ready();
  /// At the end of the run: sends SIGTERM to the further child and waits until it has ended. kill_after_s: how long
  /// that may take. After a further Ctrl-C, the child gets SIGINT.
  void end_beside(double kill_after_s);

  /// Waits until `analyzer` listens. Returns false if it ended first, or if this process was interrupted.
  /// restart_analyzer: as below.
  bool wait_until_ready(std::optional<Child>& analyzer, const std::function<void()>& restart_analyzer);

  /// Waits until both processes have ended. `analyzer` is empty for the baseline. restart_analyzer replaces `analyzer`
  /// by another one. This function is called if the analyzer was killed, or stopped by another process, while the
  /// producer runs; it is not called after several analyzers died in a row without a committed step. If
  /// restart_analyzer is empty, the producer is asked to end instead.
  void wait_until_ended(Child& producer, std::optional<Child>& analyzer, const std::function<void()>& restart_analyzer);

  const Reported& producer() const noexcept { return producer_; }
  const Reported& analyzer() const noexcept { return analyzer_; }
  bool interrupted() const noexcept { return interrupts_ > 0; }
  int restarts() const noexcept { return restarts_; }
  /// The analyzer's last line on standard error: the reason, if it ended by itself.
  const std::string& analyzers_last_line() const noexcept { return analyzers_last_line_; }

 protected:
  void wait_once(Child* producer, Child* analyzer);
  void advance_clock() noexcept;
  /// Takes note of a line of the analyzer's report.
  virtual void analyzer_reported(Json& line) { (void)line; }
  virtual void signal_producer(Child& producer, int number) { producer.signal(number); }
  /// Whether a signal to this process needs no more action, because it does not concern the run, or because it is a
  /// batch system's announcement that was passed on.
  virtual bool settle_signal(const Child&, int) { return false; }
  virtual void remember_lost_analyzer();
  std::int64_t alone_for_ns(std::int64_t since_ns, const Reported& reported) const noexcept;
  void kill_if_stopped_for_long(Child& child, const char* name, std::int64_t& stopped_since_ns);
  /// alone_since_ns: the time at which the child was asked to end because its peer had ended; 0: it was not asked.
  void kill_if_silent(Child& child, const Reported& reported, std::int64_t& alone_since_ns);
  void take_in(Child& child, Reported& reported);
  void pass_on_signals(Child* producer, Child* analyzer);
  void say(const std::string& text);
  bool replaced(const Child& analyzer, const std::function<void()>& restart_analyzer);
  bool analyzer_can_be_replaced(const Child& analyzer) noexcept;

  StopSignals signals_;
  std::int64_t kill_after_ns_;
  ProgressLine progress_;
  std::optional<PlanCheck> plan_;
  Reported producer_;
  Reported analyzer_;
  Child* beside_ = nullptr;  // the process of the run's analyses
  Reported beside_reported_;
  std::string analyzers_last_line_;
  bool attends_ = false;  // the program started this process; its calls report a missing analyzer and request resuming
  bool pool_may_be_empty_ = false;  // although the run resumes, an empty pool is as expected
  Json lost_;  // sums of the lost analyzers' reports, by key
  int restarts_ = 0;
  int futile_restarts_ = 0;  // the number of successive restarts without a committed step
  double committed_at_restart_ = -1;
  int interrupts_ = 0;
  bool analyzer_reported_cause_ = false;  // the analyzer reported why it ended; the producer was interrupted
  // The supervisor's clock: CLOCK_MONOTONIC without the time in which this process was stopped.
  std::int64_t clock_ns_ = 1;
  std::int64_t looked_at_ns_;
};

}  // namespace ringside
