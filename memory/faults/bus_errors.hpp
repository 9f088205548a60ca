// SPDX-License-Identifier: BSD-3-Clause
// Handles faults in the thread that causes them: SIGBUS (absent memory) and, where far memory is used in place, SIGSEGV
// (a store to a chunk that is being copied). For other faults, the program's own handler is called.
#pragma once

#include <signal.h>

namespace ringside::memory {

class BusErrors {
 public:
  /// `absent`: whether to handle absent memory; `copied`: whether to handle chunks that are being copied. Returns 0 or
  /// an error number.
  int start(bool absent, bool copied) noexcept;
  void stop() noexcept;
  /// Whether the library handles a signal.
  bool handles(int signal) const noexcept { return (signal == SIGBUS || signal == SIGSEGV) && of(signal).started; }
  /// Used by a wrapper of sigaction for a handled signal: sets the program's handler, which is called for other faults,
  /// and returns the previous one.
  void program_handler(int signal, const struct sigaction* set, struct sigaction* before) noexcept;

  static void handle(int signal, siginfo_t* info, void* context) noexcept;

 private:
  struct Signal {
    struct sigaction previous;
    bool started;
  };
  Signal& of(int signal) noexcept { return signals_[signal == SIGBUS ? 0 : 1]; }
  const Signal& of(int signal) const noexcept { return signals_[signal == SIGBUS ? 0 : 1]; }
  int install(int signal) noexcept;
  void pass_on(int signal, siginfo_t* info, void* context) noexcept;
  Signal signals_[2]{};
};

extern BusErrors bus_errors;

/// Called after each fault, possibly in a signal handler: the preload library's account uses it. nullptr if there is no
/// such function.
extern void (*after_fault)() noexcept;

/// The common part of both ways to handle faults: makes the page accessible. If the page is not allocated, makes it
/// permanently inaccessible, so that the repeated access raises SIGSEGV.
void serve_fault(const void* address, bool store) noexcept;

}  // namespace ringside::memory
