// SPDX-License-Identifier: BSD-3-Clause
// What the parts of the extension module share: failures as exceptions, and calls of a handle that several
// Python threads use. The module is a thin layer over ringside.h; names, defaults and documents for users are in the
// Python sources beside it (python/ringside).
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "python.hpp"
#include "ringside.h"

namespace ringside_python {

/// Raises the exception of python/ringside/errors.py for a failure.
[[noreturn]] void raise(const ringside_error& error);
/// The same for an argument that this module refuses itself.
[[noreturn]] void refuse(const std::string& line);
/// The same for a name that nothing has: raises what `function` of errors.py makes of the arguments, a tuple.
[[noreturn]] void refuse_name(const char* function, const Object& arguments);

/// How often this process is the child of a fork that was made since the module was loaded.
int fork_depth() noexcept;

/// A handle that one thread at a time may use. No thread waits for the mutex while it holds the interpreter's lock.
template <class Handle>
struct Shared {
  Handle* handle = nullptr;
  std::mutex mutex;
  int depth = fork_depth();
};

/// Gives the interpreter's lock to other threads.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  /// When the interpreter ends, it ends the other threads that wait for its lock by unwinding their stacks (before Python 3.14),
  /// which no function of C++ survives. Such a thread, a daemon, sleeps until the process has ended.
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

/// The status of call(handle), and the handle's error if that is a failure or RINGSIDE_OVERWRITTEN.
template <class Handle, class Function>
ringside_status with(Shared<Handle>& shared, const ringside_error* (*error_of)(const Handle*), ringside_error& error,
                     Call kind, const Function& call) {
  const auto locked = [&] {
    const ringside_status status = call(shared.handle);
    if (status > 0 || status == RINGSIDE_OVERWRITTEN) error = *error_of(shared.handle);
    return status;
  };
  // In a child of fork(), the library refuses the call; a thread of the parent may have had the mutex.
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
