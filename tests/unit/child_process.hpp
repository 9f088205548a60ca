// SPDX-License-Identifier: BSD-3-Clause
// Child processes of a test: one that remains until it is killed, and one whose end is awaited. Fork while the process
// has only one thread.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside::testing {

/// A process that calls `work` and then remains until it is killed. Objects that must exist until then have to be
/// static in `work`.
class ChildProcess {
 public:
  /// Returns when `work` has returned. `work` returns whether it succeeded.
  template <class Work>
  explicit ChildProcess(const Work& work) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd read_end(ends[0]);
    UniqueFd write_end(ends[1]);
    pid_ = fork();
    if (pid_ == 0) {
      if (!work() || ::write(write_end.get(), "", 1) != 1) _exit(1);
      for (;;) ::pause();
    }
    write_end.reset();
    char done = 0;
    worked_ = ::read(read_end.get(), &done, 1) == 1;
  }
  ~ChildProcess() { end(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  bool worked() const { return worked_; }
  /// The process id; it remains the same when the process has ended.
  pid_t pid() const { return pid_; }
  /// Kills the process, and waits until it has ended.
  void end() {
    if (pid_ <= 0 || std::exchange(has_ended_, true)) return;
    ::kill(pid_, SIGKILL);
    EXPECT_EQ(waitpid(pid_, nullptr, 0), pid_);
  }

 private:
  pid_t pid_ = -1;
  bool worked_ = false;
  bool has_ended_ = false;
};

/// Calls `work` in a child process, and returns how the child ended, in the form of waitpid. The child's exit code is
/// the value that `work` returns, or the code of the Error that `work` throws.
template <class Work>
int status_of_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(work());
    } catch (const Error& error) {
      _exit(static_cast<int>(error.code()));
    }
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

}  // namespace ringside::testing
