// SPDX-License-Identifier: BSD-3-Clause
// The code that all parts of the extension module share: failures as exceptions, and calls with a handle that several
// Python threads use. The module is a thin layer over ringside.h. Names, defaults and documentation for users are in
// the Python sources beside it (python/ringside).
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "python.hpp"
#include "ringside.h"

namespace ringside_python {

/// Raises the exception of python/ringside/errors.py for a failure.
[[noreturn]] void raise(const ringside_error& error);
/// Raises UsageError with this line, for an argument that the module itself refuses.
[[noreturn]] void refuse(const std::string& line);
/// Raises the exception for an unknown name, which `function` in errors.py makes of `arguments`, a tuple.
[[noreturn]] void refuse_name(const char* function, const Object& arguments);

/// The number of forks between the process that loaded the module and this one.
int fork_depth() noexcept;

/// A handle that only one thread at a time may use. No thread waits for the mutex while it holds the interpreter's
/// lock.
template <class Handle>
struct Shared {
  Handle* handle = nullptr;
  std::mutex mutex;
  int depth = fork_depth();
};

/// While this object exists, other threads may take the interpreter's lock.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  /// Before Python 3.14, the interpreter at its end unwinds the stacks of other threads that wait for its lock. C++
  /// functions cannot continue after that. Therefore such a thread, which is a daemon, sleeps until the process has
  /// ended.
  ~Released() {
    try {
      PyEval_RestoreThread(state_);
    } catch (const abi::__forced_unwind&) {
      for (;;) pause();
    }
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

enum class Call {
  kShort,  // keeps the interpreter's lock, unless another thread uses the handle
  kLong    // waits or reads much memory
};

/// Returns the status of call(handle). Sets `error` to the handle's error if the status is a failure or
/// RINGSIDE_OVERWRITTEN.
template <class Handle, class Function>
ringside_status with(Shared<Handle>& shared, const ringside_error* (*error_of)(const Handle*), ringside_error& error,
                     Call kind, const Function& call) {
  const auto locked = [&] {
    const ringside_status status = call(shared.handle);
    if (status > 0 || status == RINGSIDE_OVERWRITTEN) error = *error_of(shared.handle);
    return status;
  };
  // In a child of fork(), the library refuses the call. The mutex is not taken, because a thread of the parent may have
  // held it.
  if (shared.depth != fork_depth()) return locked();
  std::unique_lock lock(shared.mutex, std::defer_lock);
  if (kind == Call::kShort && lock.try_lock()) return locked();
  const Released released;
  lock.lock();
  const ringside_status status = locked();
  lock.unlock();  // before the wait for the interpreter's lock
  return status;
}

void define_writer(PyObject* module);
void define_reader(PyObject* module);

}  // namespace ringside_python
