// SPDX-License-Identifier: BSD-3-Clause
// A thread must be inside the gate while it changes allocations, and fork(2) closes the gate. So the tables that the
// child inherits are consistent, and none of their locks is held.
#pragma once

#include <stdint.h>

#include <atomic>

#include "memory/system/raw.hpp"

namespace ringside::memory {

class Gate {
 public:
  void enter() noexcept {
    for (;;) {
      uint32_t now = word_.load(std::memory_order_relaxed);
      if ((now & kClosed) != 0) {
        sleep_while(&word_, now);
      } else if (word_.compare_exchange_weak(now, now + 1, std::memory_order_acquire)) {
        return;
      }
    }
  }
  void leave() noexcept {
    if (word_.fetch_sub(1, std::memory_order_release) == (kClosed | 1)) wake_all(&word_);
  }
  /// Waits until all threads have left the gate; threads that enter then wait until open().
  void close() noexcept {
    for (;;) {  // two threads may fork at the same time
      uint32_t now = word_.load(std::memory_order_relaxed);
      if ((now & kClosed) != 0) {
        sleep_while(&word_, now);
      } else if (word_.compare_exchange_weak(now, now | kClosed, std::memory_order_acquire)) {
        break;
      }
    }
    for (uint32_t now = 0; (now = word_.load(std::memory_order_acquire)) != kClosed;) sleep_while(&word_, now);
  }
  void open() noexcept {
    word_.store(0, std::memory_order_release);
    wake_all(&word_);
  }

 private:
  static constexpr uint32_t kClosed = uint32_t{1} << 31;
  std::atomic<uint32_t> word_{0};
};

extern Gate gate;

/// Enters the gate, and leaves it when the object is destroyed. Signals are blocked in between, because a handler that
/// allocates would wait for a fork that waits for this thread. While it is inside, the thread may not touch the arena.
class ThroughGate {
 public:
  ThroughGate() noexcept { gate.enter(); }
  ~ThroughGate() { gate.leave(); }
  ThroughGate(const ThroughGate&) = delete;
  ThroughGate& operator=(const ThroughGate&) = delete;

 private:
  const SignalsBlocked blocked_;
};

}  // namespace ringside::memory
