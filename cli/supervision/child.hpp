// SPDX-License-Identifier: BSD-3-Clause
// A process that `ringside run` starts and supervises. Its report lines and its standard error arrive through pipes,
// its end through a pidfd. The kernel sends it SIGTERM if we die first.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "common/platform/exit_code.hpp"
#include "common/platform/process_state.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

class Child {
 public:
  /// Starts `program` (a path) with `arguments`, followed by `--report-fd=N`, in a process group of its own: the
  /// terminal's Ctrl-C then reaches only us. Throws Error (exit code 3) if it cannot be started.
  Child(const std::string& program, const std::vector<std::string>& arguments);
  /// Kills the process if it still runs.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  int pidfd() const noexcept { return pidfd_.get(); }
  int report_fd() const noexcept { return report_.get(); }
  int stderr_fd() const noexcept { return stderr_.get(); }
  bool running() const noexcept { return running_; }
  /// Stopped by a signal (SIGSTOP), not ended.
  bool stopped() const noexcept { return running_ && is_stopped(pid_); }

  void signal(int number) noexcept;

  /// Reads what there is, without waiting, and hands each whole line to `on_line`. At its end, closes the descriptor.
  void read_report(const std::function<void(const std::string&)>& on_line) {
    read_lines(report_, report_text_, on_line);
  }
  void read_stderr(const std::function<void(const std::string&)>& on_line) {
    read_lines(stderr_, stderr_text_, on_line);
  }

  /// Collects the exit status if the process has ended (pidfd readable). Then `exit_code` or `death_signal` is valid.
  void reap() noexcept;
  int exit_code() const noexcept { return exit_code_; }        // -1 if it died by a signal
  int death_signal() const noexcept { return death_signal_; }  // 0 if it exited
  std::string how_it_ended() const;                            // "was killed by signal 9 (Killed)"
  /// Its exit code if that is a documented one; a death or any other number counts as a lost peer.
  ExitCode verdict() const noexcept { return documented_exit_code(exit_code_); }
  /// Whether it died by a signal or ended with an undocumented exit code: it has then not reported the reason.
  bool ended_unexpectedly() const noexcept { return static_cast<int>(verdict()) != exit_code_; }

 private:
  static void read_lines(UniqueFd& fd, std::string& partial, const std::function<void(const std::string&)>& on_line);

  pid_t pid_ = -1;
  UniqueFd pidfd_;
  UniqueFd report_;
  UniqueFd stderr_;
  std::string report_text_;
  std::string stderr_text_;
  bool running_ = false;
  int exit_code_ = -1;
  int death_signal_ = 0;
};

}  // namespace ringside
