// SPDX-License-Identifier: BSD-3-Clause
// Follows an analyzer's records live, from the first to the last, and is never killed: every record it has seen must be
// in the journal.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>

namespace ringside::testing {

class Follower {
 public:
  /// Record (serialised) by its number.
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
