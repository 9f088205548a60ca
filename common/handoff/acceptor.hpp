// SPDX-License-Identifier: BSD-3-Clause
// Peers that have connected to the analyzer's socket but not yet sent a request. All of them wait here at the same
// time, each with its own deadline, so that a silent peer delays no other. Other users' peers never wait: the kernel
// reports a peer's user when it connects.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "common/handoff/peer.hpp"
#include "common/platform/unique_fd.hpp"

namespace ringside {

struct AcceptorLimits {
  std::size_t waiting = 64;                       // how many peers may wait; one more displaces the oldest
  std::chrono::milliseconds first_message{5000};  // a peer's deadline for its first message
};

/// Only one thread may use it.
class Acceptor {
 public:
  /// `listener` must outlive this object.
  explicit Acceptor(Listener& listener, const AcceptorLimits& limits = {});

  /// The next peer whose first message has arrived, in the order in which they connected. Empty if no message arrives
  /// within `timeout_ms`, or after a signal. wake_fd: another descriptor that ends the wait once it is readable; -1:
  /// none.
  std::optional<Peer> next(int timeout_ms, int wake_fd = -1);

  /// The number of peers turned away since the last call: peers of other users, and peers that sent nothing in time.
  std::uint64_t take_turned_away() noexcept { return std::exchange(turned_away_, 0); }

 private:
  struct Waiting {
    UniqueFd socket;
    std::int64_t until_ns;
  };
  std::optional<Peer> take_ready();
  void accept_more();
  bool turn_away_oldest() noexcept;
  int slice_ms(int left_ms) const noexcept;

  Listener& listener_;
  const AcceptorLimits limits_;
  std::deque<Waiting> waiting_;  // the oldest first
  bool no_descriptors_ = false;  // whether no descriptor was free at the last attempt to accept
  std::uint64_t turned_away_ = 0;
};

}  // namespace ringside
