// SPDX-License-Identifier: BSD-3-Clause
// Reads the signals that request the end of this process. They are read from a descriptor, so that SIGINT (the user
// interrupts) and SIGTERM (the run is over) can be distinguished.
#pragma once

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/program/stop_signal.hpp"

namespace ringside {

class StopSignals {
 public:
  /// Blocks the stop signals (common/program/stop_signal.hpp) for this process. Throws Error (exit code 3).
  StopSignals() {
    const sigset_t set = stop_signals();
    sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_.valid()) throw system_error("cannot watch for signals: {}", errno_text(errno));
  }

  int fd() const noexcept { return fd_.get(); }
  /// The next signal that has arrived; 0 if none has.
  int take() noexcept {
    signalfd_siginfo info{};
    const bool came = read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info);
    return came ? static_cast<int>(info.ssi_signo) : 0;
  }

 private:
  UniqueFd fd_;
};

}  // namespace ringside
