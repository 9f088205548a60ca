// SPDX-License-Identifier: BSD-3-Clause
// Readers that are never killed. Every iterate that the Watcher has read completely must remain committed, and every
// record that the Follower has received must be in the journal.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>

namespace ringside::testing {

/// Reads the pool from another process, and remembers the newest iteration that it read completely.
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

class Follower {
 public:
  /// The serialised records, by their numbers.
  using Seen = std::map<std::uint64_t, std::string>;

  /// find_socket: returns the analyzer's socket, or an empty text while there is none.
  explicit Follower(std::function<std::string()> find_socket);
  ~Follower();
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  Seen stop();

 private:
  void follow();

  std::function<std::string()> find_socket_;
  std::atomic<bool> stop_{false};
  Seen seen_;
  std::thread thread_;
};

}  // namespace ringside::testing
