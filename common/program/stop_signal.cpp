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
  __atomic_store_n(&stop_requested, 1, __ATOMIC_RELAXED);  // as StopFlag reads it
  if (std::atomic<bool>* const flag = also_set.load(std::memory_order_relaxed); flag != nullptr) {
    flag->store(true, std::memory_order_relaxed);
  }
}

}  // namespace

const volatile int* catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = request_stop;
  // No SA_RESTART: a sleeping futex or poll returns, so that the flag is seen at once.
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
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
