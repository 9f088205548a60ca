// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/tcp_gate.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>

#include "common/platform/error.hpp"

namespace ringside {
namespace {

using std::chrono::milliseconds;

// Bytes that a server sends in the handshake (ZMTP 3.1, CURVE) before it has the client's key: 64 bytes of greeting and
// 170 bytes of WELCOME. Then the server sends 12 more bytes (ERROR) to refuse a client, or at least 60 bytes (READY) to
// admit it.
constexpr std::uint64_t kMaxBytesBeforeAdmission = 64 + 170 + 32;

constexpr std::size_t kFlowBytes = 64 << 10;  // buffered for a side that does not read; ZeroMQ buffers the rest
constexpr int kAcceptedAtOnce = 16;           // per turn and door
constexpr int kNoDescriptorsMs = 100;         // how long connections wait in the kernel for a free descriptor
constexpr int kNoMemoryMs = 100;              // between attempts to get memory, if no connection can be closed
constexpr milliseconds kFarewell{200};        // to send the last bytes

bool may_come_later(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

struct AddressListDeleter {
  void operator()(addrinfo* list) const noexcept { freeaddrinfo(list); }
};

UniqueFd listen_at(const TcpGate::Door& door) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  std::string host = door.host;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  addrinfo* found = nullptr;
  const int unknown = getaddrinfo(host == "*" ? nullptr : host.c_str(), door.port.c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, AddressListDeleter> list(found);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* at = unknown == 0 ? found : nullptr; at != nullptr; at = at->ai_next) {
    UniqueFd fd(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol));
    const int on = 1;
    if (fd.valid()) setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd.valid() && bind(fd.get(), at->ai_addr, at->ai_addrlen) == 0 && listen(fd.get(), SOMAXCONN) == 0) return fd;
    error = errno;
  }
  throw system_error("{}: cannot listen at {}:{}: {}; expected an address of this machine and a free port", door.option,
                     door.host, door.port, unknown == 0 ? errno_text(error) : gai_strerror(unknown));
}

/// Does not wait: if ZeroMQ's queue is full, no connection is made.
UniqueFd connect_inside(const std::string& name) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() + 1 > sizeof address.sun_path) return {};
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid() || connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) return {};
  return fd;
}

}  // namespace

bool TcpGate::Connection::is_admitted() const noexcept {
  return told > kMaxBytesBeforeAdmission;
}

bool TcpGate::Connection::stuck() const noexcept {
  return !out.bytes.empty() && (out.ended || out.bytes.size() >= kFlowBytes);
}

TcpGate::TcpGate(const std::vector<Door>& doors, std::size_t most, milliseconds patience)
    : most_(most), patience_(patience), stopping_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!stopping_.valid()) throw system_error("an eventfd cannot be made: {}", errno_text(errno));
  for (const Door& door : doors) listening_.push_back({listen_at(door), door.inner});
  thread_ = std::thread([this] { run(); });
}

TcpGate::~TcpGate() {
  eventfd_write(stopping_.get(), 1);
  thread_.join();
}

std::uint16_t TcpGate::port(std::size_t door) const {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  if (getsockname(listening_[door].socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes) != 0) {
    throw system_error("the port of a listening socket cannot be read: {}", errno_text(errno));
  }
  // Both kinds of address have the port at the same place.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

void TcpGate::run() {
  pthread_setname_np(pthread_self(), "tcp gate");
  bool ending = false;
  Clock::time_point until{};
  while (!ending || (!connections_.empty() && Clock::now() < until)) {
    try {
      constexpr int kAsLongAsItTakes = -1;
      constexpr int kSliceMs = 10;
      const bool stop = wait(ending, ending ? kSliceMs : no_descriptors_ ? kNoDescriptorsMs : kAsLongAsItTakes);
      if (stop && !std::exchange(ending, true)) until = Clock::now() + kFarewell;
      for (auto one = connections_.begin(); one != connections_.end();) {
        one = continues(*one) ? std::next(one) : connections_.erase(one);
      }
      if (!ending) accept_more();
    } catch (const std::exception&) {  // there is no memory to wait for all connections, but there may be for fewer
      if (!connections_.empty()) {
        connections_.pop_front();
        continue;
      }
      pollfd stopping{stopping_.get(), POLLIN, 0};
      if (poll(&stopping, 1, kNoMemoryMs) > 0) return;
    }
  }
}

/// Waits for an event. Returns true if the gate must stop.
bool TcpGate::wait(bool ending, int timeout_ms) {
  std::vector<pollfd> watched = {{ending ? -1 : stopping_.get(), POLLIN, 0}};
  const auto events = [](const Flow& from_here, const Flow& to_here) {
    const bool reads = !from_here.ended && from_here.bytes.size() < kFlowBytes;
    return static_cast<short>((reads ? POLLIN : 0) | (!to_here.bytes.empty() ? POLLOUT : 0));
  };
  const auto watch = [&watched](const UniqueFd& fd, short wanted) {
    // poll reports a hang-up even if no event is requested, and this must not wake the gate.
    watched.push_back({wanted != 0 ? fd.get() : -1, wanted, 0});
  };
  for (const Connection& connection : connections_) {
    watch(connection.outer, events(connection.in, connection.out));
    watch(connection.inner, events(connection.out, connection.in));
  }
  if (!no_descriptors_ && !ending) {
    for (const Listening& door : listening_) watched.push_back({door.socket.get(), POLLIN, 0});
  }
  poll(watched.data(), watched.size(), until_patience_ends(timeout_ms));
  auto entry = watched.begin() + 1;
  for (Connection& connection : connections_) {
    connection.outer_events = (entry++)->revents;
    connection.inner_events = (entry++)->revents;
  }
  return watched.front().revents != 0;
}

/// Returns timeout_ms (below 0: no limit), or a shorter time if the patience with a client ends earlier.
int TcpGate::until_patience_ends(int timeout_ms) const {
  std::int64_t left_ms = timeout_ms < 0 ? std::numeric_limits<int>::max() : timeout_ms;
  for (const Connection& connection : connections_) {
    if (!connection.stuck()) continue;
    const auto left = std::chrono::ceil<milliseconds>(connection.moved + patience_ - Clock::now());
    left_ms = std::clamp<std::int64_t>(left.count(), 0, left_ms);
  }
  return left_ms == std::numeric_limits<int>::max() ? timeout_ms : static_cast<int>(left_ms);
}

bool TcpGate::continues(Connection& connection) {
  constexpr short kReadable = POLLIN | POLLHUP | POLLERR;
  const bool was_stuck = connection.stuck();
  const std::size_t held = connection.out.bytes.size();
  if ((connection.outer_events & kReadable) != 0 && !read_some(connection.outer, connection.in)) return false;
  if ((connection.inner_events & kReadable) != 0 && !read_some(connection.inner, connection.out)) return false;
  connection.told += connection.out.bytes.size() - held;
  const std::size_t before = connection.out.bytes.size();
  if (!write_some(connection.inner, connection.in) || !write_some(connection.outer, connection.out)) return false;
  const Clock::time_point now = Clock::now();
  if (!was_stuck || connection.out.bytes.size() < before) connection.moved = now;
  if (connection.stuck() && now - connection.moved >= patience_) return false;
  return !connection.in.done() && !connection.out.done();
}

/// Returns false if the connection is broken.
bool TcpGate::read_some(const UniqueFd& from, Flow& flow) {
  if (flow.ended || flow.bytes.size() >= kFlowBytes) return true;
  std::array<char, 16384> buffer;
  const ssize_t got =
      recv(from.get(), buffer.data(), std::min(buffer.size(), kFlowBytes - flow.bytes.size()), MSG_DONTWAIT);
  if (got < 0) return may_come_later(errno);
  flow.ended = got == 0;
  flow.bytes.append(buffer.data(), static_cast<std::size_t>(got));
  return true;
}

/// Returns false if the connection is broken.
bool TcpGate::write_some(const UniqueFd& to, Flow& flow) {
  if (flow.bytes.empty()) return true;
  const ssize_t sent = send(to.get(), flow.bytes.data(), flow.bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return may_come_later(errno);
  flow.bytes.erase(0, static_cast<std::size_t>(sent));
  return true;
}

void TcpGate::accept_more() {
  no_descriptors_ = false;
  for (const Listening& door : listening_) {
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
      // Without a free descriptor, accept fails whether or not a connection waits.
      pollfd waiting{door.socket.get(), POLLIN, 0};
      if (poll(&waiting, 1, 0) <= 0) break;
      UniqueFd outer(accept4(door.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      const bool none = !outer.valid() && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
      if (none && !close_stranger()) {
        no_descriptors_ = true;
        return;
      }
      if (!outer.valid()) continue;
      if (connections_.size() >= most_ && !close_stranger()) continue;  // all others are admitted: close this one
      UniqueFd inner = connect_inside(door.inner);
      if (!inner.valid()) continue;
      const int on = 1;
      setsockopt(outer.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      Connection& connection = connections_.emplace_back();
      connection.outer = std::move(outer);
      connection.inner = std::move(inner);
    }
  }
}

/// Closes the connection that has waited longest for admission. Returns false if all connections are admitted.
bool TcpGate::close_stranger() {
  const auto stranger =
      std::find_if(connections_.begin(), connections_.end(), [](const Connection& c) { return !c.is_admitted(); });
  if (stranger == connections_.end()) return false;
  connections_.erase(stranger);
  return true;
}

}  // namespace ringside
