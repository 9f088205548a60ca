// A reader of a pool that is never killed: what it has read as a whole is committed for good.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

namespace ringside::testing {

/// Looks at the pool from outside, and remembers the newest iteration it read as a whole.
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
