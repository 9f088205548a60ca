// Waiting for a counter of the other process to grow: spin, then sleep in a futex, and look at the peer after each
// sleep, because a futex is not woken by a death (docs/handoff_protocol.md, "Waiting").
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "common/peer.hpp"

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
  // The peer's state word ends the wait once it has this value: it detached, or it failed. Whoever changes it calls
  // `wake` on the counter. May be null.
  const std::atomic<std::uint32_t>* state = nullptr;
  std::uint32_t state_that_ends = 0;
  const std::atomic<bool>* stop = nullptr;  // set by a signal handler: ends the wait; may be null
};

/// Waits until `counter >= target` (acquire). kTimedOut only if the counter did not grow at all for one of the two
/// time-outs.
WaitResult wait_until(const std::atomic<std::uint64_t>& counter, std::uint64_t target, const Peer& peer,
                      const WaitLimits& limits) noexcept;

/// Wakes whoever sleeps on `counter`, in whatever process. Call after the counter has grown.
void wake(const std::atomic<std::uint64_t>& counter) noexcept;

}  // namespace ringside
