// SPDX-License-Identifier: BSD-3-Clause
// A thread that is interrupted by no signal but a SIGBUS of its own: other threads wait for signals.
#pragma once

#include <signal.h>

#include <thread>
#include <utility>

namespace ringside {

/// run: as std::jthread takes it.
template <class Run>
std::jthread quiet_thread(Run&& run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // a thread inherits the mask of the one that makes it
  struct Restored {
    const sigset_t& before;
    ~Restored() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  };
  const Restored restored{before};
  return std::jthread(std::forward<Run>(run));
}

}  // namespace ringside
