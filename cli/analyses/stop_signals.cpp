// SPDX-License-Identifier: BSD-3-Clause
#include "cli/analyses/stop_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "common/platform/error.hpp"
#include "common/program/stop_signal.hpp"

namespace ringside {

StopSignals::StopSignals() {
  const sigset_t set = stop_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  fd_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_.valid()) throw system_error("cannot watch for signals: {}", errno_text(errno));
}

int StopSignals::take() noexcept {
  signalfd_siginfo info{};
  return read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace ringside
