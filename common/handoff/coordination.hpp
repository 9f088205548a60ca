// How a side of the hand-off tells the other one that its counter has grown, and waits for the other's to grow. The
// rules of waiting are here, once; the two ways of telling are futex_coordination and message_coordination
// (docs/handoff_protocol.md, "Waiting").
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "common/handoff/peer.hpp"
#include "common/platform/pulse.hpp"

namespace ringside {

enum class WaitResult { kReached, kEnded, kPeerLost, kTimedOut, kStopped };

inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct WaitLimits {
  // How long to spin before sleeping in the kernel, whose wake-up costs tens of microseconds. Zero where both processes
  // share a core: spinning would keep the peer from running.
  std::int64_t spin_ns = 0;
  // The growth is not expected before this instant (CLOCK_MONOTONIC): sleep until then, and only then spin. 0: spin at
  // once.
  std::int64_t not_before_ns = 0;
  std::int64_t timeout_ns = 0;  // without any growth of the counter
  // With the peer's process stopped by a signal all the while: it will not make the counter grow.
  std::int64_t stopped_timeout_ns = kNever;
  // The peer's state word ends the wait once it has this value: it detached, or it failed. Whoever changes it
  // announces. May be null.
  const std::atomic<std::uint32_t>* state = nullptr;
  std::uint32_t state_that_ends = 0;
  const std::atomic<bool>* stop = nullptr;  // set by a signal handler: ends the wait; may be null
  Pulse* pulse = nullptr;                   // hears of every look around, some twenty a second; may be null
};

/// Used by one thread at a time.
class Coordination {
 public:
  /// own: the counter of this side; other: the peer's. Both outlive us.
  Coordination(const std::atomic<std::uint64_t>& own, const std::atomic<std::uint64_t>& other) noexcept
      : own_(own), other_(other) {}
  virtual ~Coordination() = default;
  Coordination(const Coordination&) = delete;
  Coordination& operator=(const Coordination&) = delete;

  /// Tells the peer. Call after the own counter has grown, or the own state word has changed.
  virtual void announce() noexcept = 0;

  /// How far the peer's counter has grown, as far as we were told. What the peer did before is visible (acquire).
  virtual std::uint64_t seen() noexcept = 0;

  /// Waits until `seen() >= target`. kTimedOut only if nothing grew at all for one of the two time-outs. What a peer
  /// did before it left, was lost or stood still counts, also if it did not come to telling us.
  WaitResult wait_until(std::uint64_t target, const Peer& peer, const WaitLimits& limits) noexcept;

 protected:
  /// What lies in the peer's counter, now that nobody may tell us more; `seen` says no less from here on.
  virtual std::uint64_t seen_at_last() noexcept = 0;
  /// Sleeps until there may be something new, at most so long.
  virtual void sleep(std::uint64_t seen, std::int64_t at_most_ns) noexcept = 0;
  /// Between two looks of a spin.
  virtual void relax() noexcept = 0;

  const std::atomic<std::uint64_t>& own_;
  const std::atomic<std::uint64_t>& other_;

 private:
  bool spin(std::uint64_t target, std::int64_t for_ns) noexcept;
};

}  // namespace ringside
