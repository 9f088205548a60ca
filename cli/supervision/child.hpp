// SPDX-License-Identifier: BSD-3-Clause
// A process that `ringside run` starts and supervises: one of our programs, whose report lines and standard error
// arrive through pipes; the user's PROGRAM, with the standard streams of `ringside run`; or an interpreter for a user's
// file (cli/analyses). A pidfd reports the end of the process. If this process dies first, the kernel sends SIGTERM to
// the child.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/platform/process.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

/// A program of the user. It is searched for in PATH, as a shell does.
struct UserProgram {
  std::vector<std::string> words;                                // PROGRAM ARGS..., at least one
  std::vector<std::pair<std::string, std::string>> environment;  // variables that are set for it
  std::vector<int> cpus;                                         // the cores to which it is bound
  bool without_streams = false;                                  // whether its standard input and output are /dev/null
};

/// A program that runs a user's file and communicates with this process. Its last arguments are the numbers of two
/// descriptors: it writes lines to the first descriptor (`read_report`) and reads lines from the second (`tell`).
/// `read_stderr` reads both of its output streams.
struct Interpreter {
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> environment;
};

/// A program that has started this process (cli/run/attendance.hpp). It is not a child: it is watched, but gets no
/// signal, and its exit status is not known.
struct AttendedProgram {
  pid_t pid;
  UniqueFd pidfd;
  UniqueFd connection;  // closes at the end of the program's run
};

class Child {
 public:
  /// Starts `program` (a path) with `arguments`, followed by `--report-fd=N`, in its own process group: a Ctrl-C in the
  /// terminal then reaches only this process. Throws Error (exit code 3) if it cannot be started.
  Child(const std::string& program, const std::vector<std::string>& arguments);
  /// Starts a program of the user in its own process group, which `signal` reaches as a whole. If standard input is a
  /// terminal, the program gets no input, because it is not in the terminal's foreground. Throws Error, exit code 2 if
  /// the program cannot be executed.
  explicit Child(const UserProgram& program);
  /// Starts an interpreter in its own process group, which `signal` reaches as a whole. Throws Error, exit code 3 if it
  /// cannot be executed.
  explicit Child(const Interpreter& interpreter);
  explicit Child(AttendedProgram program);
  /// Kills the process if it still runs, except an attended program. A user's program is killed with its group.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const noexcept { return pid_; }
  int pidfd() const noexcept { return pidfd_.get(); }
  int report_fd() const noexcept { return report_.get(); }
  int stderr_fd() const noexcept { return stderr_.get(); }
  /// Whether the process runs. For an attended program: whether its run continues.
  bool running() const noexcept { return running_ && (!is_attended_ || report_.valid()); }
  /// Whether it is stopped by a signal (SIGSTOP) and has not ended.
  bool stopped() const noexcept { return running_ && !is_attended_ && is_stopped(pid_); }

  /// Sends a signal to the process. After the process has ended, only the remaining group of a user's program gets the
  /// signal.
  void signal(int number) noexcept;

  /// Writes a line to an interpreter, without waiting. Returns false if the pipe is full or closed.
  bool tell(const std::string& line) noexcept;

  /// Reads the available bytes without waiting, and passes each whole line to `on_line`. At the end of the stream,
  /// closes the descriptor. A line of more than 1 MiB arrives in pieces.
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
  /// The exit code of the process if it is a documented one. Death by a signal and any other exit code count as a lost
  /// peer.
  ExitCode verdict() const noexcept { return documented_exit_code(exit_code_); }
  /// Whether it died by a signal or ended with an undocumented exit code, and so has not reported the reason.
  bool ended_unexpectedly() const noexcept { return static_cast<int>(verdict()) != exit_code_; }

 private:
  void watch(const std::string& program);
  static void read_lines(UniqueFd& fd, std::string& partial, const std::function<void(const std::string&)>& on_line);

  pid_t pid_ = -1;
  bool is_attended_ = false;
  bool is_group_ = false;  // for a user's program, which remains a zombie, so that no other group gets its number
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
