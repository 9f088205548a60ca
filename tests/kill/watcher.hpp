// SPDX-License-Identifier: BSD-3-Clause
// A reader of a pool that is never killed: every iterate it has read completely is committed for good.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace ringside::testing {

/// Reads the pool from outside, and remembers the newest iteration that it read completely.
class Watcher {
 public:
  explicit Watcher(std::string pool);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  std::uint64_t newest() const { return newest_; }
  std::uint64_t stop();

 private:
  void watch();

  std::string pool_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> newest_{0};
  std::thread thread_;
};

}  // namespace ringside::testing
