// SPDX-License-Identifier: BSD-3-Clause
// A simulated disk for tests of the times at which commits are persisted: a sync ends when the test permits the end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "tests/unit/analyzer/ring/ring_in_memory.hpp"

namespace ringside {

/// A delay that does not end during a test: a delayed sync begins only for another reason.
inline constexpr std::chrono::hours kEndless{1000};

/// A persistence whose `sync` waits for the test and returns what the test chooses.
class SlowDisk : public ObservedPersistence {
 public:
  int sync() noexcept override {
    std::unique_lock lock(mutex_);
    ++started_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return free_ > 0; });
    --free_;
    return error_;
  }
  void let(int syncs, int error = 0) {
    const std::lock_guard lock(mutex_);
    free_ += syncs;
    error_ = error;
    changed_.notify_all();
  }
  void wait_until_started(int syncs) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return started_ >= syncs; });
  }
  void store64(std::uint64_t* to, std::uint64_t value) noexcept override {
    if (value == 0 && *to != 0 && on_invalidation) on_invalidation();
    ObservedPersistence::store64(to, value);
  }
  std::function<void()> on_invalidation;  // called before a slot is made invalid

  int started() {
    const std::lock_guard lock(mutex_);
    return started_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int started_ = 0;
  int free_ = 0;
  int error_ = 0;
};

}  // namespace ringside
