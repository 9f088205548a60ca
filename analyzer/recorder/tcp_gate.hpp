// SPDX-License-Identifier: BSD-3-Clause
// The gate in front of the telemetry's tcp sockets. ZeroMQ accepts every connection, and retries indefinitely when
// descriptors run out. Therefore unknown clients connect to this gate instead. The gate accepts a bounded number of
// connections, and copies their bytes to and from a ZeroMQ socket that listens only on this machine. At that socket,
// CURVE and the ZAP handler decide which clients are admitted. If there is no room for another connection, the gate
// closes the connection that has waited longest for admission. One thread polls all connections, so that no connection
// waits for another.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/platform/unique_fd.hpp"

namespace ringside {

class TcpGate {
 public:
  struct Door {
    std::string option;  // the option's name in messages: "--telemetry-tcp"
    std::string host;    // the host of the listening address: a name or a number; "*": every address
    std::string port;    // "0": any free port
    std::string inner;  // the name of the abstract AF_UNIX socket behind the gate, without its '@'
  };

  /// The descriptors that each connection needs: its own, and both ends of the link to ZeroMQ.
  static constexpr std::size_t kDescriptorsEach = 3;

  /// The time for which a client may read nothing while the gate's buffer for it is full.
  static constexpr std::chrono::milliseconds kPatience{15'000};

  /// Listens, and accepts connections from now on. most: the limit of connections, for all doors together. Throws Error
  /// (exit code 3).
  TcpGate(const std::vector<Door>& doors, std::size_t most, std::chrono::milliseconds patience = kPatience);
  /// Passes on ZeroMQ's last bytes for a short time, then ends.
  ~TcpGate();
  /// The port on which a door listens.
  std::uint16_t port(std::size_t door) const;
  TcpGate(const TcpGate&) = delete;
  TcpGate& operator=(const TcpGate&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  struct Listening {
    UniqueFd socket;
    std::string inner;
  };
  /// One direction of a connection: the bytes that were read and are not yet written.
  struct Flow {
    std::string bytes;
    bool ended = false;  // the reading side has hung up
    bool done() const noexcept { return ended && bytes.empty(); }
  };
  struct Connection {
    UniqueFd outer;
    UniqueFd inner;
    Flow in;
    Flow out;
    std::uint64_t told = 0;  // bytes that ZeroMQ has sent; the number shows whether it has admitted the client
    short outer_events = 0;  // the events that poll found
    short inner_events = 0;
    Clock::time_point moved{};  // when the client last took something, or was last not stuck
    bool is_admitted() const noexcept;
    /// True while the client reads nothing. Then the gate does not read ZeroMQ's side, and cannot detect a hang-up of
    /// ZeroMQ.
    bool stuck() const noexcept;
  };

  void run();
  bool wait(bool ending, int timeout_ms);
  int until_patience_ends(int timeout_ms) const;
  bool continues(Connection& connection);
  void accept_more();
  bool close_stranger();
  static bool read_some(const UniqueFd& from, Flow& flow);
  static bool write_some(const UniqueFd& to, Flow& flow);

  std::vector<Listening> listening_;
  const std::size_t most_;
  const std::chrono::milliseconds patience_;
  const UniqueFd stopping_;            // an eventfd
  std::list<Connection> connections_;  // oldest first
  bool no_descriptors_ = false;        // whether the last attempt to accept lacked a descriptor
  std::thread thread_;                 // last member, because it uses all members above
};

}  // namespace ringside
