// SPDX-License-Identifier: BSD-3-Clause
// How each side of the hand-off notifies its peer that its own counter has grown, and how it waits for the peer's
// counter to grow. This file has the rules of waiting, which are the same for both kinds of notification. The
// notifications are in futex_coordination and message_coordination (docs/formats/handoff_protocol.md, "Waiting").
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "common/handoff/peer.hpp"
#include "common/kernels/hash.hpp"
#include "common/platform/pulse.hpp"
#include "common/platform/stop_flag.hpp"
#include "common/threads/core_loan.hpp"

namespace ringside {

enum class WaitResult { kReached, kEnded, kPeerLost, kTimedOut, kStopped };

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct WaitLimits {
  // How long to spin before sleeping in the kernel; a wake-up from that sleep costs tens of microseconds. 0 if both
  // processes share a core, because spinning would keep the peer from running.
  std::int64_t spin_ns = 0;
  // No growth is expected before this instant (CLOCK_MONOTONIC): sleep until then, and only then spin. 0: spin at once.
  std::int64_t not_before_ns = 0;
  std::int64_t timeout_ns = 0;  // how long the counter may stand still
  // The time-out while the peer's process is stopped by a signal, because it then cannot make the counter grow.
  std::int64_t stopped_timeout_ns = kNever;
  // The peer's state word, or null. The wait ends when the word has the value `state_that_ends`, because the peer has
  // detached or failed. The peer announces each change.
  const std::atomic<std::uint32_t>* state = nullptr;
  std::uint32_t state_that_ends = 0;
  // If not null, its cores are lent from the first sleep after the spin, until the counter has reached the target or
  // the wait ends. They are not lent while this side spins on one of them.
  CoreLender* lender = nullptr;
  StopFlag stop = {};                       // ends the wait
  Pulse* pulse = nullptr;                   // called after each sleep, about twenty times a second; may be null
};

/// Only one thread at a time may use it.
class Coordination {
 public:
  /// own: this side's counter; other: the peer's counter. Both must outlive this object.
  Coordination(const std::atomic<std::uint64_t>& own, const std::atomic<std::uint64_t>& other) noexcept
      : own_(own), other_(other) {}
  virtual ~Coordination() = default;
  Coordination(const Coordination&) = delete;
  Coordination& operator=(const Coordination&) = delete;

  /// Notifies the peer that this side's counter has grown.
  virtual void announce() noexcept = 0;
  /// Notifies the peer that this side's state word has changed. Unlike `announce`, always wakes the peer. A peer that
  /// was just about to sleep notices the change only after its sleep.
  virtual void announce_state() noexcept { announce(); }

  /// The peer's counter, as far as notifications have reported it. The peer's earlier stores are visible (acquire).
  virtual std::uint64_t seen() noexcept = 0;

  /// Waits until `seen() >= target`. Returns kTimedOut only if the counter did not grow at all during one of the two
  /// time-outs in `limits`. Steps that the peer published before it left, was lost or was stopped count even if their
  /// notifications did not arrive.
  WaitResult wait_until(std::uint64_t target, const Peer& peer, const WaitLimits& limits) noexcept;

 protected:
  /// The final value of the peer's counter; called when no more notifications can arrive. From then on, `seen` returns
  /// at least this value.
  virtual std::uint64_t seen_at_last() noexcept = 0;
  /// Sleeps until the counter may have grown, at most `at_most_ns`.
  virtual void sleep(std::uint64_t seen, std::int64_t at_most_ns) noexcept = 0;
  /// Called between two checks of a spin.
  virtual void relax() noexcept = 0;

  const std::atomic<std::uint64_t>& own_;
  const std::atomic<std::uint64_t>& other_;

 private:
  bool spin(std::uint64_t target, std::int64_t for_ns) noexcept;
  WaitResult spin_and_sleep(std::uint64_t target, const Peer& peer, const WaitLimits& limits) noexcept;
};

enum class Side { kProducer, kAnalyzer };

/// Identifies one attachment of one side, for `--coordination messages`.
struct MessageAddress {
  std::string socket;       // the path of the analyzer's socket
  Id128 name;               // the producer's name, random for each attachment: messages of other senders are ignored
  std::uint64_t epoch = 0;  // the number of the attachment: messages of other attachments are ignored
};

/// Makes the coordination of each attachment of a process. The implementation is in a separate folder (common/messages)
/// because it needs ZeroMQ; a program that coordinates only by locks links neither of the two.
class Messages {
 public:
  virtual ~Messages() = default;
  /// Throws the errors of common/messages/message_coordination.hpp. own, other: as in the constructor of Coordination.
  virtual std::unique_ptr<Coordination> coordinate(Side side, const MessageAddress& address,
                                                   const std::atomic<std::uint64_t>& own,
                                                   const std::atomic<std::uint64_t>& other) = 0;
};

/// socket: the path of the analyzer's socket. Throws Error (exit code 3) if the endpoint's name would be too long.
using MakeMessages = std::unique_ptr<Messages> (*)(const std::string& socket);

/// Calls `make`. Throws Error (exit code 2) if `make` is null: the program was built without messages.
std::unique_ptr<Messages> make_messages_with(MakeMessages make, const std::string& socket);

}  // namespace ringside
