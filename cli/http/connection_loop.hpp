// SPDX-License-Identifier: BSD-3-Clause
// The connections of the HTTP server. One thread waits for all of them at once, so that no connection delays another.
// It reads a request until its head is complete, sends the whole answer and closes the connection. A client may send
// nothing, one byte a second or an endless stream, or may not read its answer. The connection of such a client takes
// one descriptor and a few KiB of memory. Both amounts are bounded, and this connection is closed when a newer
// connection needs the room.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <string>
#include <string_view>
#include <thread>

#include "common/platform/unique_fd.hpp"

namespace ringside {

struct ConnectionLimits {
  std::size_t connections = 256;                    // beyond this, a connection is closed (close_least_deserving)
  std::size_t request_bytes = 8 << 10;              // the largest size of a request's head
  std::size_t answers_bytes = 16 << 20;             // the most unsent bytes in total; a single answer may be larger
  std::chrono::milliseconds grace{250};             // a connection that has sent no byte in this time is silent
  std::chrono::milliseconds first_byte_time{1000};  // limit for the first byte of the request
  std::chrono::milliseconds request_time{5000};     // limit for the complete request
  std::chrono::milliseconds response_time{10'000};  // limit for sending the answer
};

class ConnectionLoop {
 public:
  /// Returns the bytes of the answer to a request's head. The head is complete, or too long, or can never become
  /// complete. The loop's thread calls this function. If the function throws or returns an empty string, the connection
  /// is closed.
  using Answer = std::function<std::string(std::string_view head)>;

  /// Starts the thread, which serves `listening`, a non-blocking listening socket.
  ConnectionLoop(UniqueFd listening, const ConnectionLimits& limits, Answer answer);
  /// Closes all connections and ends the thread.
  ~ConnectionLoop();
  ConnectionLoop(const ConnectionLoop&) = delete;
  ConnectionLoop& operator=(const ConnectionLoop&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  // If there is no room, connections are closed in the order of these states. A connection is silent if it sent nothing
  // within its grace period.
  enum class State { kSilent, kAsking, kAnswered };
  struct Connection {
    UniqueFd socket;
    Clock::time_point accepted;
    Clock::time_point until;
    State state = State::kSilent;
    std::string request;
    std::string answer;
    std::size_t sent = 0;
    short events = 0;  // result of poll
  };
  using Connections = std::list<Connection>;  // oldest first

  void run();
  bool wait();
  void go_on();
  void accept_more();
  bool continues(Connection& connection);
  bool read_some(Connection& connection);
  bool write_some(Connection& connection);
  void answer(Connection& connection, std::string_view head);
  bool close_least_deserving();
  std::size_t answers_bytes() const;

  const UniqueFd listening_;
  const ConnectionLimits limits_;
  const Answer answer_;
  const UniqueFd stopping_;  // an eventfd
  Connections connections_;
  bool no_descriptors_ = false;  // the last attempt to accept a connection found no free descriptor
  std::thread thread_;           // the last member, because it uses all others
};

}  // namespace ringside
