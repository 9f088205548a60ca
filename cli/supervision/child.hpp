// SPDX-License-Identifier: BSD-3-Clause
// A process that `ringside run` starts and supervises: one of our programs, whose report lines and standard error
// arrive through pipes, or the user's PROGRAM, which has the standard streams of `ringside run`, or an interpreter that
// runs a file of the user's (cli/analyses). Its end arrives through a pidfd. The kernel sends it SIGTERM if we die first.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/platform/process.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

/// A program of the user's, found as a shell finds it.
struct UserProgram {
  std::vector<std::string> words;                                // PROGRAM ARGS..., at least one
  std::vector<std::pair<std::string, std::string>> environment;  // variables that are set for it
  std::vector<int> cpus;                                         // that it is bound to
};

/// A program that runs a file of the user's and talks to us: it gets the numbers of two descriptors as its last words,
/// one that it writes lines to (`read_report`) and one that it reads lines from (`tell`). Both of its output streams are
/// what `read_stderr` reads.
struct Interpreter {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment;
};

/// A program that runs already and has started us (cli/run/attendance.hpp). It is not a child: it is watched, gets no signal, and
/// how it ends is not known.
struct AttendedProgram {
  pid_t pid;
  UniqueFd pidfd;
  UniqueFd connection;  // its end is the end of the program's run
};

class Child {
 public:
  /// Starts `program` (a path) with `arguments`, followed by `--report-fd=N`, in a process group of its own: the
  /// terminal's Ctrl-C then reaches only us. Throws Error (exit code 3) if it cannot be started.
  Child(const std::string& program, const std::vector<std::string>& arguments);
  /// Starts a program of the user's in a process group of its own, which `signal` reaches as a whole. If standard input
  /// is a terminal, the program has none: it does not belong to the terminal's foreground. Throws Error, exit code 2 if
  /// the program cannot be executed.
  explicit Child(const UserProgram& program);
  /// Starts an interpreter in a process group of its own, which `signal` reaches as a whole. Throws Error, exit code 3 if
  /// it cannot be executed.
  explicit Child(const Interpreter& interpreter);
  explicit Child(AttendedProgram program);
  /// Kills the process (a user's program: with its group) if it still runs. Not an attended one.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const noexcept { return pid_; }
  int pidfd() const noexcept { return pidfd_.get(); }
  int report_fd() const noexcept { return report_.get(); }
  int stderr_fd() const noexcept { return stderr_.get(); }
  /// Of an attended program: its run goes on.
  bool running() const noexcept { return running_ && (!is_attended_ || report_.valid()); }
  /// Stopped by a signal (SIGSTOP), not ended.
  bool stopped() const noexcept { return running_ && !is_attended_ && is_stopped(pid_); }

  /// Does nothing once the process has ended; of a user's program, what is left of its group still gets the signal.
  void signal(int number) noexcept;

  /// Writes a line, of an interpreter, without waiting. False if it takes no more.
  bool tell(const std::string& line) noexcept;

  /// Reads what there is, without waiting, and hands each whole line to `on_line`. At its end, closes the descriptor.
  /// A line of more than 1 MiB comes in pieces.
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
  void watch(const std::string& program);
  static void read_lines(UniqueFd& fd, std::string& partial, const std::function<void(const std::string&)>& on_line);

  pid_t pid_ = -1;
  bool is_attended_ = false;
  bool is_group_ = false;  // a user's program: stays a zombie until our end, so that no other group gets its number
  UniqueFd pidfd_;
  UniqueFd report_;
  UniqueFd stderr_;
  UniqueFd commands_;
  std::string report_text_;
  std::string stderr_text_;
  bool running_ = false;
  int exit_code_ = -1;
  int death_signal_ = 0;
};

}  // namespace ringside
