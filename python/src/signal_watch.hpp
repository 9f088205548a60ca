// SPDX-License-Identifier: BSD-3-Clause
// Ctrl-C during a wait in the library. Python's own handler only records a signal. The exception is raised when the
// interpreter continues, which is not possible while the library waits. Therefore, during a wait, another handler is
// called before Python's and sets the flag that the wait checks (`stop` in ringside.h).
#pragma once

#include <signal.h>

#include "core.hpp"

namespace ringside_python {

/// Python handles signals only in its main thread, so in any other thread, and within another watch, a watch does
/// nothing. The thread must hold the interpreter's lock when it makes and when it destroys a watch.
class SignalWatch {
 public:
  /// Raises the exceptions of Python's handlers for signals that were received earlier.
  explicit SignalWatch(volatile int& stop);
  ~SignalWatch() { end(); }
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Determines which signals have Python handlers. Later watches install handlers only for these, so that a claim
  /// makes two system calls.
  static void find_handlers();

  /// Whether a signal was received. Raises the exception of the signal's Python handler, if there is one. Clears the
  /// flag.
  bool came();

 private:
  void end() noexcept;

  volatile int& stop_;
  bool active_ = false;
};

}  // namespace ringside_python
