// SPDX-License-Identifier: BSD-3-Clause
// Faults in the thread that has them: the handlers of SIGBUS (absent memory) and, where far memory is used in place,
// SIGSEGV (a store to a chunk that is being copied). Other faults go to the handler that the program had, or has set
// since.
#pragma once

#include <signal.h>

namespace ringside::memory {

class BusErrors {
 public:
  /// For absent memory, and for chunks that are being copied. 0 or an error number.
  int start(bool absent, bool copied) noexcept;
  void stop() noexcept;
  /// Whether a signal's handler is this one.
  bool handles(int signal) const noexcept { return (signal == SIGBUS || signal == SIGSEGV) && of(signal).started; }
  /// For a wrapped sigaction of a signal that it handles: the program's handler, which is called for other faults.
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

/// Called after each fault, where a preload library keeps its account; may be in a signal handler. nullptr: none.
extern void (*after_fault)() noexcept;

/// What every way of faults does: makes the page of an address accessible, or inaccessible for good if it is not
/// allocated, so that the next try is SIGSEGV.
void serve_fault(const void* address, bool store) noexcept;

}  // namespace ringside::memory
