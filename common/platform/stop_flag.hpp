// SPDX-License-Identifier: BSD-3-Clause
// A flag of the caller that ends a wait early: another thread or a signal handler sets it. In C it is an int.
#pragma once

#include <atomic>
#include <cstddef>

namespace ringside {

/// Refers to the caller's flag, which outlives it; a value.
class StopFlag {
 public:
  StopFlag() = default;  // is never set
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
