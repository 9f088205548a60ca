// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/acceptor.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "common/platform/clock.hpp"

namespace ringside {
namespace {

// The most connections that are accepted in one turn: far fewer than may wait, so that a peer's message is read before
// later peers displace that peer.
constexpr std::size_t kAcceptedAtOnce = 16;

// How long connections stay in the kernel's queue while there is no descriptor for them.
constexpr int kNoDescriptorsMs = 100;

enum class FirstMessage { kNotYet, kThere, kNever };

/// The state of a peer's first message. kNever: the peer hung up, or its message is empty.
FirstMessage look_for_message(int socket) noexcept {
  std::byte first;
  ssize_t length;
  do {
    length = recv(socket, &first, 1, MSG_PEEK | MSG_DONTWAIT);
  } while (length < 0 && errno == EINTR);
  if (length > 0) return FirstMessage::kThere;
  return length < 0 && errno == EAGAIN ? FirstMessage::kNotYet : FirstMessage::kNever;
}

}  // namespace

Acceptor::Acceptor(Listener& listener, const AcceptorLimits& limits) : listener_(listener), limits_(limits) {}

std::optional<Peer> Acceptor::next(int timeout_ms, int wake_fd) {
  const std::int64_t until = now_ns() + std::int64_t{timeout_ms} * 1'000'000;
  for (bool first = true;; first = false) {
    const std::int64_t left_ms = (until - now_ns() + 999'999) / 1'000'000;
    if (!first && left_ms <= 0) return std::nullopt;
    std::vector<pollfd> watched = {{wake_fd, POLLIN, 0}};
    for (const Waiting& peer : waiting_) watched.push_back({peer.socket.get(), POLLIN, 0});
    if (!no_descriptors_) watched.push_back({listener_.fd(), POLLIN, 0});
    if (poll(watched.data(), watched.size(), slice_ms(static_cast<int>(std::max<std::int64_t>(left_ms, 0)))) < 0) {
      return std::nullopt;  // a signal: the caller checks its stop flag
    }
    if (watched.front().revents != 0) return std::nullopt;
    if (std::optional<Peer> peer = take_ready()) return peer;
    accept_more();
  }
}

/// How long the next sleep may last: until a deadline passes, or until descriptors may be free again.
int Acceptor::slice_ms(int left_ms) const noexcept {
  std::int64_t slice = no_descriptors_ ? std::min(left_ms, kNoDescriptorsMs) : left_ms;
  if (!waiting_.empty()) slice = std::min(slice, (waiting_.front().until_ns - now_ns()) / 1'000'000 + 1);
  return static_cast<int>(std::max<std::int64_t>(slice, 0));
}

/// Takes the first peer whose message has arrived. Also drops peers that have left or whose deadline has passed.
std::optional<Peer> Acceptor::take_ready() {
  const std::int64_t now = now_ns();
  for (auto peer = waiting_.begin(); peer != waiting_.end();) {
    const FirstMessage message = look_for_message(peer->socket.get());
    if (message == FirstMessage::kThere) {
      Peer ready(std::move(peer->socket));
      waiting_.erase(peer);
      return ready;
    }
    const bool late = message == FirstMessage::kNotYet && now >= peer->until_ns;
    if (late) ++turned_away_;
    peer = late || message == FirstMessage::kNever ? waiting_.erase(peer) : peer + 1;
  }
  return std::nullopt;
}

void Acceptor::accept_more() {
  no_descriptors_ = false;
  const std::size_t at_once = std::min(kAcceptedAtOnce, limits_.waiting);
  for (std::size_t i = 0; i < at_once; ++i) {
    Listener::Accepted accepted = listener_.accept_socket();
    if (accepted.no_descriptors) {
      no_descriptors_ = !turn_away_oldest();
      if (no_descriptors_) return;
      accepted = listener_.accept_socket();
      i = at_once;  // first read from the peer that has the last descriptor, then accept another
    }
    if (accepted.none) return;
    if (accepted.stranger) ++turned_away_;
    if (!accepted.socket.valid()) continue;
    if (waiting_.size() >= limits_.waiting) turn_away_oldest();
    waiting_.push_back(
        {std::move(accepted.socket), now_ns() + std::chrono::nanoseconds(limits_.first_message).count()});
  }
}

/// Returns false if no peer waits.
bool Acceptor::turn_away_oldest() noexcept {
  if (waiting_.empty()) return false;
  waiting_.pop_front();
  ++turned_away_;
  return true;
}

}  // namespace ringside
