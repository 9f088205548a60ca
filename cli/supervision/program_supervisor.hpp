// SPDX-License-Identifier: BSD-3-Clause
// Supervises the user's PROGRAM and its analyzer. PROGRAM itself sends no reports: all facts about the run come from
// the analyzer. Any descendant of the started process may attach (docs/publish/library.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/supervision/attached_process.hpp"
#include "cli/supervision/program_end.hpp"
#include "cli/supervision/supervisor.hpp"

namespace ringside {

/// When a trial of a program ends: after this number of committed steps, or after this time.
struct TrialLimit {
  std::uint64_t steps = 0;
  double seconds = 0;
};

struct WatchedProgram {
  std::string name;        // as the user gave it, printable
  std::vector<int> cores;  // the cores to which it was bound
  double kill_after_s = 30;
  bool show_progress = true;
  bool is_attended = false;  // whether the program started this process, which only attends it
  bool resumes_from_others = false;  // whether it continues from other rings than the pool (--resume-from)
  std::optional<TrialLimit> trial = {};  // set if this run is only a trial, whose end is no failure
};

class ProgramSupervisor final : public Supervisor {
 public:
  explicit ProgramSupervisor(const WatchedProgram& program);

  /// socket: the analyzer's socket, to which the program must attach.
  void expect_at(const std::string& socket) { socket_ = socket; }

  /// Waits until PROGRAM has ended, no process is attached, and the analyzer has ended. restart_analyzer: as in
  /// Supervisor; it is called only while a process needs the analyzer.
  void wait_for_program(Child& program, std::optional<Child>& analyzer, const std::function<void()>& restart_analyzer);

  const AttachmentReport& attachment() const noexcept { return attachment_; }
  /// The present state of the run; after wait_for_program, how the run ended.
  ProgramRunEnd end(const Child& program, const Child& analyzer) const;
  /// Whether this run is a trial that was ended before the program ended by itself.
  bool trial_was_ended() const noexcept { return trial_ended_ns_ != 0; }
  /// Whether the user was informed at once that the publishing process was lost. This happens only if PROGRAM continues
  /// without that process.
  bool loss_was_told() const noexcept { return loss_was_told_; }

 protected:
  void analyzer_reported(Json& line) override;
  void signal_producer(Child& program, int number) override;
  bool settle_signal(const Child& program, int number) override;
  void remember_lost_analyzer() override;

 private:
  void begin_attachment(const Json& line);
  void take_in_figures(Json figures);
  void end_trial_if_due(Child& program);
  void kill_orphans(const Child& program, const Child& analyzer);
  void collect_orphans(const Child& program, const Child& analyzer);
  void tell(Child& program, const Child& analyzer);
  void tell_while_program_runs(const Child& program, const Child& analyzer);
  bool is_over() const noexcept;
  bool publisher_may_come(const Child& program, const Child& analyzer) const noexcept;

  const WatchedProgram program_;
  std::string socket_;
  AttachmentReminder reminder_;
  AttachmentReport attachment_;
  AttachedProcess publisher_;
  ProcessEnd publisher_end_;
  std::vector<pid_t> orphans_;            // orphans that still run
  const std::vector<pid_t> earlier_;      // children that this process had before
  Json lost_publishing_;                  // sums of the lost analyzers' reports about the publisher
  std::string lost_analyzer_;             // how the last analyzer ended, if the program was therefore asked to end
  bool is_attached_to_analyzer_ = false;  // attached to the present analyzer, not only to a previous one
  bool waiting_was_told_ = false;
  bool loss_was_told_ = false;
  bool publisher_was_signalled_ = false;
  std::int64_t begun_ns_;
  std::int64_t trial_ended_ns_ = 0;  // when the trial was ended; 0: not yet
  int announced_ = 0;  // the last signal that was passed on as an announcement
};

}  // namespace ringside
