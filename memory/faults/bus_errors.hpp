// SPDX-License-Identifier: BSD-3-Clause
// Faults in the thread that has them: the handler of SIGBUS. What lies outside the arena goes to the handler that the
// program had, or has set since.
#pragma once

#include <signal.h>

namespace ringside::memory {

class BusErrors {
 public:
  /// 0 or -1 with errno.
  int start() noexcept;
  void stop() noexcept;
  bool started() const noexcept { return started_; }
  /// For a wrapped sigaction(SIGBUS): the program's handler, which is called for other faults.
  void program_handler(const struct sigaction* set, struct sigaction* before) noexcept;

  static void handle(int signal, siginfo_t* info, void* context) noexcept;

 private:
  void pass_on(int signal, siginfo_t* info, void* context) noexcept;
  struct sigaction previous_ {};
  bool started_ = false;
};

extern BusErrors bus_errors;

/// Called after each fault, where a preload library keeps its account; may be in a signal handler. nullptr: none.
extern void (*after_fault)() noexcept;

/// What every way of faults does: makes the page of an address accessible, or inaccessible for good if it is not
/// allocated, so that the next try is SIGSEGV.
void serve_fault(const void* address, bool store) noexcept;

}  // namespace ringside::memory
