// SPDX-License-Identifier: BSD-3-Clause
// The connection to the other process: an AF_UNIX socket, which carries the few messages of attach and detach (with
// file descriptors). Together with a pidfd, the socket shows at any moment whether the peer is still running.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/platform/process.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

/// File descriptors that came with a message. The object allocates nothing, because functions that may not throw also
/// receive descriptors.
class PassedFds {
 public:
  static constexpr std::size_t kMost = 3;  // a message with more is a protocol error

  std::size_t size() const noexcept { return size_; }
  UniqueFd& operator[](std::size_t i) noexcept { return fds_[i]; }
  void add(UniqueFd fd) noexcept {
    if (size_ < kMost) fds_[size_++] = std::move(fd);
  }

 private:
  std::array<UniqueFd, kMost> fds_;
  std::size_t size_ = 0;
};

class Peer {
 public:
  Peer() = default;
  explicit Peer(UniqueFd socket);

  /// Connects to the SOCK_SEQPACKET socket at `path`, repeating the attempt for `timeout_s` seconds while no process
  /// listens there. Throws Error: exit code 4 when the time is over; 3 if the path is too long, access is denied, or
  /// another user listens; 130 once `stop` (may be null) is set. while_waiting: a line for standard error, written
  /// after a moment.
  static Peer connect(const std::string& path, double timeout_s, StopFlag stop = {}, const std::string& while_waiting = {});

  /// Like `connect`, but does not wait: nothing if no process listens there.
  static std::optional<Peer> try_connect(const std::string& path);

  /// Sends one message with up to three file descriptors (which the caller keeps). Returns false if the peer has gone.
  bool send(std::span<const std::byte> message, std::span<const int> fds = {}) noexcept;

  struct Received {
    std::size_t bytes = 0;  // 0: no message, or one that violates the protocol
    bool hung_up = false;
    PassedFds fds;
  };
  /// Waits up to `timeout_ms` (-1: without limit) for one message of at most `buffer.size()` bytes. A longer message
  /// violates the protocol. Returns nothing when the time is over.
  std::optional<Received> receive(std::span<std::byte> buffer, int timeout_ms) noexcept;

  /// False once the peer has hung up or exited. The function makes a system call, so call it only in the slow path of a
  /// wait.
  bool alive() const noexcept;

  /// True while the process is stopped by a signal.
  bool stopped() const noexcept { return is_stopped(pid_); }

  pid_t pid() const noexcept { return pid_; }
  uid_t uid() const noexcept { return uid_; }

 private:
  UniqueFd socket_;
  UniqueFd pidfd_;
  pid_t pid_ = 0;
  uid_t uid_ = 0;
};

/// The listening end. Only the owner can connect: the socket is created with mode 0600, and the peer's user id is
/// checked.
class Listener {
 public:
  /// The files beside the socket have the path of the socket with one of these endings as their names: the lock file,
  /// and the analyzer's other sockets (docs/use/live.md, docs/formats/handoff_protocol.md).
  static constexpr std::string_view kLockSuffix = ".lock";
  static constexpr std::array<std::string_view, 3> kSocketSuffixes = {".control", ".telemetry", ".steps"};

  /// Binds `path` (its folder is made with mode 0700 if missing). If another listener holds the lock file beside the
  /// socket, throws Error (exit code 3). The socket file of a dead listener is replaced.
  explicit Listener(const std::string& path);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Returns the next peer of this user, or nothing if none connects within `timeout_ms`. Peers of other users are
  /// turned away.
  std::optional<Peer> accept(int timeout_ms);

  /// The result of one look at the queue of connections, without waiting.
  struct Accepted {
    UniqueFd socket;              // the peer's connection; if it is invalid, one of the flags below is set
    bool none = false;            // whether no connection waits
    bool stranger = false;        // whether a peer of another user was turned away
    bool no_descriptors = false;  // whether no descriptor was free; the connection stays in the queue
  };
  Accepted accept_socket() noexcept;
  /// A descriptor that is readable while a connection waits.
  int fd() const noexcept { return socket_.get(); }

 private:
  std::string path_;
  UniqueFd lock_;
  UniqueFd socket_;
};

}  // namespace ringside
