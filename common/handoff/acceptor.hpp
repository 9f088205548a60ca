// SPDX-License-Identifier: BSD-3-Clause
// Peers that have connected to the analyzer's socket but not yet sent a request. They wait here together, each with its
// own deadline, so that a silent peer delays no other. Other users' peers never wait: the kernel reports a peer's user
// when it connects.
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
  std::size_t waiting = 64;                       // number of peers; for one more, the oldest is turned away
  std::chrono::milliseconds first_message{5000};  // a peer's deadline for its first message
};

/// For use by one thread.
class Acceptor {
 public:
  /// listener: must outlive this object.
  explicit Acceptor(Listener& listener, const AcceptorLimits& limits = {});

  /// The next peer whose first message has arrived, in the order of connecting; empty if none does within `timeout_ms`,
  /// or after a signal. wake_fd: another descriptor that ends the wait once it is readable; -1: none.
  std::optional<Peer> next(int timeout_ms, int wake_fd = -1);

  /// Peers turned away since the last call: other users' peers, and those that sent nothing in time.
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
  std::deque<Waiting> waiting_;  // oldest first
  bool no_descriptors_ = false;  // at the last attempt to accept
  std::uint64_t turned_away_ = 0;
};

}  // namespace ringside
