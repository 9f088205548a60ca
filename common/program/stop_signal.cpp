// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/stop_signal.hpp"

#include <csignal>

namespace ringside {
namespace {

volatile int stop_requested = 0;
std::atomic<std::atomic<bool>*> also_set{nullptr};
static_assert(std::atomic<std::atomic<bool>*>::is_always_lock_free);
static_assert(std::atomic<bool>::is_always_lock_free && __atomic_always_lock_free(sizeof(stop_requested), nullptr),
              "a signal handler may only touch lock-free atomics");

extern "C" void request_stop(int) {
  __atomic_store_n(&stop_requested, 1, __ATOMIC_RELAXED);  // atomically, because StopFlag reads it atomically
  if (std::atomic<bool>* const flag = also_set.load(std::memory_order_relaxed); flag != nullptr) {
    flag->store(true, std::memory_order_relaxed);
  }
}

constexpr int kIgnorable[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};

}  // namespace

sigset_t stop_signals() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  for (const int number : kIgnorable) {
    struct sigaction present {};
    // A signal that is blocked is queued for a signalfd even if it is ignored, so ignored signals are left out.
    if (sigaction(number, nullptr, &present) == 0 && present.sa_handler != SIG_IGN) sigaddset(&set, number);
  }
  return set;
}

void leave_stop_signals_to_parent() noexcept {
  for (const int number : kIgnorable) signal(number, SIG_IGN);
}

const volatile int* catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  // SA_RESTART is not set, so that a sleeping futex or poll returns and the caller checks the flag at once.
  const sigset_t set = stop_signals();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU}) {
    if (sigismember(&set, number) == 1) sigaction(number, &action, nullptr);
  }
  return &stop_requested;
}

void also_set_on_stop(std::atomic<bool>& flag) noexcept {
  also_set.store(&flag);
}

void ignore_write_signals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

}  // namespace ringside
