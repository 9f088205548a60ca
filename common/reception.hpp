// Peers that have connected to the analyzer's socket and not yet said what they want. They wait here together, each
// with a deadline of its own, so that a peer that says nothing holds up no other. What a stranger cannot do is wait:
// the kernel knows a peer's user from the moment it connects.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "common/peer.hpp"
#include "common/unique_fd.hpp"

namespace ringside {

struct ReceptionLimits {
  std::size_t waiting = 64;                       // peers; for one more, the one that has waited longest is turned away
  std::chrono::milliseconds first_message{5000};  // until a peer has to have sent its first message
};

/// Used by one thread.
class Reception {
 public:
  /// listener: outlives us.
  explicit Reception(Listener& listener, const ReceptionLimits& limits = {});

  /// The next peer whose first message is there to be read, in the order in which they connected; nothing within
  /// `timeout_ms`, or when a signal came.
  std::optional<Peer> next(int timeout_ms);

  /// Peers that were turned away since the last call: other users', and those that said nothing in time.
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
  const ReceptionLimits limits_;
  std::deque<Waiting> waiting_;  // the one that connected first comes first
  bool no_descriptors_ = false;  // at the last attempt to accept
  std::uint64_t turned_away_ = 0;
};

}  // namespace ringside
