// SPDX-License-Identifier: BSD-3-Clause
// Ctrl-C during a wait in the library. Python's own handler only notes a signal; its exception is raised when the
// interpreter continues, which it does not while the library waits. So for the time of a wait, a handler in front of
// Python's also sets the flag at which the wait looks (`stop` of ringside.h).
#pragma once

#include <signal.h>

#include "core.hpp"

namespace ringside_python {

/// Python handles signals in its main thread only: in any other thread, and within another watch, this does nothing.
/// The interpreter's lock is held where it is made and where it ends.
class SignalWatch {
 public:
  /// Raises what the Python handlers of signals raise that came before.
  explicit SignalWatch(volatile int& stop);
  ~SignalWatch() { end(); }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Looks which signals have Python handlers: later watches are for those. A claim thus makes two system calls.
  static void find_handlers();

  /// Whether a signal came. If its Python handler raises, so does this. Clears the flag.
  bool came();

 private:
  void end() noexcept;

  volatile int& stop_;
  bool active_ = false;
};

}  // namespace ringside_python
