// SPDX-License-Identifier: BSD-3-Clause
// Children of a test's process: one that stays until it is killed, and one that is waited for. Fork while the process
// has one thread.
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

/// A process that calls `work` and then stays until it is killed. What it is to keep meanwhile, `work` makes static.
class ChildProcess {
 public:
  /// Returns once `work` did, which returns whether it succeeded.
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
  /// Stays the same when it has ended.
  pid_t pid() const { return pid_; }
  /// Kills it, and returns once it is gone.
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

/// Calls `work` in a child, and returns how it ended, as waitpid does. Its exit code is what `work` returns, or that of
/// the Error that it throws.
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
