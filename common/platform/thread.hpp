// SPDX-License-Identifier: BSD-3-Clause
// Threads: the cores that they run on, their priority, and the signals that they take.
#pragma once

#include <signal.h>

#include <span>
#include <thread>
#include <utility>

namespace ringside {

/// Binds the calling thread to these logical CPUs, at least one. Returns 0, or an errno value if no such core exists
/// or none of them is allowed.
int bind_calling_thread(std::span<const int> cpus) noexcept;

/// Binds the calling thread to one logical CPU.
int bind_calling_thread(int cpu) noexcept;

/// Lowers the priority of this thread, and of the threads that it starts (SCHED_BATCH): when they wake up, they do not
/// interrupt another thread on the same core, such as the analyzer's main thread. They still get their share of a core
/// that other programs use; with a lower weight (nice), they would get almost none of it.
void lower_thread_priority() noexcept;

/// Starts a thread in which all signals are blocked except its own SIGBUS, because other threads wait for signals. run:
/// the function, as for std::jthread.
template <class Run>
std::jthread quiet_thread(Run&& run) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // a thread inherits the signal mask of the thread that starts it
  struct Restored {
    const sigset_t& before;
    ~Restored() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
  };
  const Restored restored{before};
  return std::jthread(std::forward<Run>(run));
}

}  // namespace ringside
