// SPDX-License-Identifier: BSD-3-Clause
// The connections of the HTTP server. One thread waits for all of them at once, so that no connection delays another.
// It reads a request until its head is complete, sends the whole answer and closes the connection. A client may send
// nothing, one byte a second or an endless stream, or may not read its answer. It then holds one descriptor and a few
// KiB; both are bounded, and its connection is closed when a newer one needs the room.
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
  std::size_t connections = 256;                    // beyond this, the least deserving one is closed
  std::size_t request_bytes = 8 << 10;              // of a request's head
  std::size_t answers_bytes = 16 << 20;             // of all unsent answers; one may always wait
  std::chrono::milliseconds grace{250};             // until a connection without any byte counts as silent
  std::chrono::milliseconds first_byte_time{1000};  // until the request begins
  std::chrono::milliseconds request_time{5000};     // until the request is complete
  std::chrono::milliseconds response_time{10'000};  // until the client has received the answer
};

class ConnectionLoop {
 public:
  /// Returns the bytes of the answer to a request's head. The head is complete, or too long, or can never become
  /// complete. The loop's thread calls it. If it throws or returns an empty string, the connection is closed.
  using Answer = std::function<std::string(std::string_view head)>;

  /// Starts the thread, which serves `listening`, a non-blocking listening socket.
  ConnectionLoop(UniqueFd listening, const ConnectionLimits& limits, Answer answer);
  /// Closes all connections and ends the thread.
  ~ConnectionLoop();
  ConnectionLoop(const ConnectionLoop&) = delete;
  ConnectionLoop& operator=(const ConnectionLoop&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  // If there is no room, connections are closed in this order: first those that sent nothing within their grace period.
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
  bool no_descriptors_ = false;  // the last attempt to accept found none
  std::thread thread_;           // last: it uses all of the above
};

}  // namespace ringside
