// SPDX-License-Identifier: BSD-3-Clause
#include "signal_watch.hpp"

#include <unistd.h>

#include <iterator>

namespace ringside_python {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

// The data that the handler reads. The only thread that has a watch sets these data before it installs the handler.
volatile int* watched = nullptr;
struct sigaction before[std::size(kSignals)];
bool handled[std::size(kSignals)];    // whether Python has a handler for the signal
bool installed[std::size(kSignals)];  // whether this module's handler, which calls Python's, is installed

/// Whether the signal has a handler. A signal that ends the process or is ignored needs no flag.
bool has_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  *watched = 1;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (kSignals[i] != signal || !has_handler(before[i])) continue;
    if (before[i].sa_flags & SA_SIGINFO) {
      before[i].sa_sigaction(signal, info, context);
    } else {
      before[i].sa_handler(signal);
    }
  }
}

bool is_main_thread() {
  thread_local const bool is_main = getpid() == gettid();
  return is_main;
}

void raise_pending() {
  called(PyErr_CheckSignals());
}

}  // namespace

SignalWatch::SignalWatch(volatile int& stop) : stop_(stop) {
  if (!is_main_thread() || watched != nullptr) return;
  active_ = true;
  stop_ = 0;
  watched = &stop;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (!handled[i]) continue;
    struct sigaction ours {
    }, old;
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(kSignals[i], &ours, &old);
    before[i] = old;  // nearly always the same handler as the one found earlier, which was called until now
    installed[i] = has_handler(old);
    if (!installed[i]) sigaction(kSignals[i], &old, nullptr);
  }
  try {
    raise_pending();  // for signals before the module's handler was installed, which set no flag
  } catch (...) {
    end();
    throw;
  }
}

void SignalWatch::find_handlers() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    handled[i] = has_handler(before[i]);
  }
}

void SignalWatch::end() noexcept {
  if (!active_) return;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    if (installed[i]) sigaction(kSignals[i], &before[i], nullptr);
  }
  watched = nullptr;
  active_ = false;
}

bool SignalWatch::came() {
  if (stop_ == 0) return false;
  stop_ = 0;
  raise_pending();
  return true;
}

}  // namespace ringside_python
