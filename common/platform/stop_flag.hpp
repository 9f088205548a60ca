// SPDX-License-Identifier: BSD-3-Clause
// A flag of the caller that ends a wait early: another thread or a signal handler sets the flag. In the C interface the
// flag is an int.
#pragma once

#include <atomic>
#include <cstddef>

namespace ringside {

/// A value type that refers to the caller's flag. The flag must outlive this object.
class StopFlag {
 public:
  StopFlag() = default;  // refers to a flag that is never set
  StopFlag(std::nullptr_t) noexcept {}
  StopFlag(const std::atomic<bool>* flag) noexcept : atomic_(flag) {}
  StopFlag(const volatile int* flag) noexcept : plain_(flag) {}

  bool is_set() const noexcept {
    return (atomic_ != nullptr && atomic_->load(std::memory_order_relaxed)) ||
           (plain_ != nullptr && __atomic_load_n(plain_, __ATOMIC_RELAXED) != 0);
  }

 private:
  const std::atomic<bool>* atomic_ = nullptr;
  const volatile int* plain_ = nullptr;
};

}  // namespace ringside
