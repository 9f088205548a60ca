// SPDX-License-Identifier: BSD-3-Clause
// Keeps the first exception of a parallel region. If an exception leaves a region or a loop of OpenMP, the process
// aborts, and the user would see no message, for example about a lack of memory.
#pragma once

#include <atomic>
#include <exception>

namespace ringside {

class FirstFailure {
 public:
  /// Does the work, unless some thread has failed already, and keeps the first exception. Any thread may call it.
  template <class Work>
  void guard(const Work& work) noexcept {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      work();
    } catch (...) {
      if (!failed_.exchange(true)) exception_ = std::current_exception();
    }
  }

  /// Call it after the region: throws the exception that was kept, if there is one.
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::atomic<bool> failed_{false};
  std::exception_ptr exception_;
};

}  // namespace ringside
