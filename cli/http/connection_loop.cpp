// SPDX-License-Identifier: BSD-3-Clause
#include "cli/http/connection_loop.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "cli/http/request_head.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

// The most connections that one turn of the loop accepts. This number is below the limit of open connections, so that a
// request is read before later connections displace its connection.
constexpr int kAcceptedAtOnce = 32;

// The time for which new connections stay in the kernel's queue while no descriptor is free.
constexpr std::chrono::milliseconds kNoDescriptors{100};

/// Reads the bytes that have arrived and discards them. The kernel resets a connection that is closed with unread
/// bytes, and the client may then lose the answer.
void read_the_rest(int socket) noexcept {
  std::array<char, 4096> rest;
  for (int i = 0; i < 16 && recv(socket, rest.data(), rest.size(), MSG_DONTWAIT) > 0; ++i) {
  }
}

bool may_come_later(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

ConnectionLoop::ConnectionLoop(UniqueFd listening, const ConnectionLimits& limits, Answer answer)
    : listening_(std::move(listening)),
      limits_(limits),
      answer_(std::move(answer)),
      stopping_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!stopping_.valid()) throw system_error("an eventfd cannot be made: {}", errno_text(errno));
  thread_ = std::thread([this] { run(); });
}

ConnectionLoop::~ConnectionLoop() {
  eventfd_write(stopping_.get(), 1);
  thread_.join();
}

void ConnectionLoop::run() {
  for (;;) {
    try {
      if (!wait()) return;
      go_on();
      accept_more();
    } catch (const std::exception&) {  // too little memory to wait for all connections; perhaps enough for fewer
      if (close_least_deserving()) continue;
      pollfd stopping{stopping_.get(), POLLIN, 0};
      if (poll(&stopping, 1, static_cast<int>(kNoDescriptors.count())) > 0) return;
    }
  }
}

/// Serves open connections before accepting new ones, so that no connection is displaced after its request has arrived.
void ConnectionLoop::go_on() {
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    connection = continues(*connection) ? std::next(connection) : connections_.erase(connection);
  }
  for (std::size_t bytes = answers_bytes(); bytes > limits_.answers_bytes; bytes = answers_bytes()) {
    const auto oldest = std::find_if(connections_.begin(), connections_.end(),
                                     [](const Connection& c) { return c.state == State::kAnswered; });
    if (oldest->answer.size() == bytes) return;  // a single answer may always wait
    connections_.erase(oldest);
  }
}

/// Waits for an event or the next time-out. Returns false if the loop is to stop.
bool ConnectionLoop::wait() {
  std::vector<pollfd> watched = {{stopping_.get(), POLLIN, 0}};
  Clock::time_point until = Clock::now() + (no_descriptors_ ? kNoDescriptors : std::chrono::hours(1));
  for (const Connection& connection : connections_) {
    const bool writes = connection.state == State::kAnswered;
    watched.push_back({connection.socket.get(), static_cast<short>(writes ? POLLOUT : POLLIN), 0});
    until = std::min(until, connection.until);
  }
  if (!no_descriptors_) watched.push_back({listening_.get(), POLLIN, 0});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  poll(watched.data(), watched.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
  auto entry = watched.begin() + 1;
  for (Connection& connection : connections_) connection.events = (entry++)->revents;
  return watched.front().revents == 0;
}

bool ConnectionLoop::continues(Connection& connection) {
  try {
    if (connection.events != 0) {
      const bool open = connection.state == State::kAnswered ? write_some(connection) : read_some(connection);
      if (!open) return false;
    }
    return Clock::now() < connection.until;
  } catch (const std::exception&) {  // lack of memory
    return false;
  }
}

/// Reads the bytes that have arrived, without waiting. Answers as soon as the request is complete. Returns whether the
/// connection stays open.
bool ConnectionLoop::read_some(Connection& connection) {
  std::array<char, 2048> buffer;
  const std::size_t room = std::min(buffer.size(), limits_.request_bytes - connection.request.size());
  const ssize_t got = recv(connection.socket.get(), buffer.data(), room, MSG_DONTWAIT);
  if (got <= 0) return got < 0 && may_come_later(errno);
  connection.request.append(buffer.data(), static_cast<std::size_t>(got));
  connection.state = State::kAsking;
  connection.until = connection.accepted + limits_.request_time;
  const std::string_view bytes = connection.request;
  const std::optional<std::size_t> head = head_length(bytes);
  if (!head && bytes.size() < limits_.request_bytes && !cannot_be_completed(bytes)) return true;
  answer(connection, bytes.substr(0, head.value_or(bytes.size())));
  return write_some(connection);
}

void ConnectionLoop::answer(Connection& connection, std::string_view head) {
  connection.answer = answer_(head);
  connection.request = {};
  connection.state = State::kAnswered;
  connection.until = Clock::now() + limits_.response_time;
}

/// Sends a part of the answer, without waiting. Returns false if the whole answer is sent or cannot be sent.
bool ConnectionLoop::write_some(Connection& connection) {
  const std::string_view rest = std::string_view(connection.answer).substr(connection.sent);
  const int socket = connection.socket.get();
  const ssize_t sent = rest.empty() ? 0 : send(socket, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return may_come_later(errno);
  connection.sent += static_cast<std::size_t>(sent);
  if (connection.sent < connection.answer.size()) return true;
  shutdown(socket, SHUT_WR);
  read_the_rest(socket);
  return false;
}

void ConnectionLoop::accept_more() {
  no_descriptors_ = false;
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    // Without a free descriptor, accept fails in the same way whether or not a connection waits.
    pollfd waiting{listening_.get(), POLLIN, 0};
    if (poll(&waiting, 1, 0) <= 0) return;
    UniqueFd socket(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.valid()) {
      const bool descriptors = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (descriptors && close_least_deserving()) continue;
      no_descriptors_ = descriptors;
      return;
    }
    if (connections_.size() >= limits_.connections) close_least_deserving();
    Connection& connection = connections_.emplace_back();
    connection.socket = std::move(socket);
    connection.accepted = Clock::now();
    connection.until = connection.accepted + std::min(limits_.first_byte_time, limits_.request_time);
    // Most clients have sent their request by now.
    connection.events = POLLIN;
    if (!continues(connection)) connections_.pop_back();
  }
}

/// Closes the connection whose loss does the least harm. Returns false if no connection exists.
bool ConnectionLoop::close_least_deserving() {
  // The request of a remote client arrives shortly after its connection. If there were no grace period and the table
  // were full of half-sent requests, every new connection would close the previous new connection.
  const Clock::time_point silent_before = Clock::now() - limits_.grace;
  const auto rank = [&](const Connection& connection) {
    const bool in_grace = connection.state == State::kSilent && connection.accepted > silent_before;
    return in_grace ? State::kAsking : connection.state;
  };
  // Among the connections of the lowest rank, the oldest one.
  const auto least = std::min_element(connections_.begin(), connections_.end(),
                                      [&](const Connection& a, const Connection& b) { return rank(a) < rank(b); });
  if (least == connections_.end()) return false;
  connections_.erase(least);
  return true;
}

std::size_t ConnectionLoop::answers_bytes() const {
  std::size_t bytes = 0;
  for (const Connection& connection : connections_) bytes += connection.answer.size();
  return bytes;
}

}  // namespace ringside
