// SPDX-License-Identifier: BSD-3-Clause
// Handles faults in a thread of the library, which reads them from userfaultfd. Each fault must then wake another core.
// But the thread also serves accesses by the kernel itself, if the process has the permission.
#pragma once

#include <pthread.h>
#include <stdint.h>

#include <atomic>

#include "memory/arena/userfault.hpp"

namespace ringside::memory {

class HandlerThread {
 public:
  /// Returns 0 or an error number.
  int start(const UserFault& userfault) noexcept;
  void stop() noexcept;
  /// For a forked child, which did not inherit the thread.
  void forget() noexcept;
  /// The descriptor that the library keeps open for the thread; -1: none.
  int descriptor() const noexcept { return wake_; }

 private:
  static void* run(void* self) noexcept;
  void serve() noexcept;
  const UserFault* userfault_ = nullptr;
  pthread_t thread_{};
  int wake_ = -1;  // an eventfd; an event ends the thread
  std::atomic<uint32_t> running_{0};  // a futex: 1 once the thread is serving
};

extern HandlerThread handler_thread;

}  // namespace ringside::memory
