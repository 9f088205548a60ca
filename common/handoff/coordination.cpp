// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/coordination.hpp"

#include <algorithm>

#include "common/platform/clock.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

// 50 ms: the longest time for which the peer's death goes unnoticed.
constexpr std::int64_t kSliceNs = 50'000'000;

// This time is longer than any check of the peer. If a check seems to take longer, this process itself was stopped
// meanwhile.
constexpr std::int64_t kAbsentNs = 1'000'000'000;

}  // namespace

bool Coordination::spin(std::uint64_t target, std::int64_t for_ns) noexcept {
  for (const std::int64_t end = now_ns() + for_ns; now_ns() < end;) {
    relax();
    if (seen() >= target) return true;
  }
  return false;
}

WaitResult Coordination::wait_until(std::uint64_t target, const Peer& peer, const WaitLimits& limits) noexcept {
  const WaitResult result = spin_and_sleep(target, peer, limits);
  if (limits.lender != nullptr) limits.lender->take_back();
  return result;
}

WaitResult Coordination::spin_and_sleep(std::uint64_t target, const Peer& peer, const WaitLimits& limits) noexcept {
  std::uint64_t before = seen();
  if (before >= target) return WaitResult::kReached;

  std::int64_t grown_at = now_ns();
  std::int64_t looked_at = grown_at;
  std::int64_t stopped_since = 0;  // when the peer was first found stopped; 0: it is not stopped
  bool spun = limits.spin_ns == 0;
  for (;;) {
    const std::int64_t early_ns = limits.not_before_ns - now_ns();
    if (!spun && early_ns <= 0) {
      if (spin(target, limits.spin_ns)) return WaitResult::kReached;
      spun = true;
    }
    if (spun && limits.lender != nullptr) limits.lender->lend(target);
    const std::int64_t sleep_ns = spun ? std::min(kSliceNs, limits.timeout_ns) : std::min(kSliceNs, early_ns);
    sleep(before, std::max<std::int64_t>(sleep_ns, 1));
    const std::uint64_t now_seen = seen();
    if (now_seen >= target) return WaitResult::kReached;
    if (limits.stop.is_set()) return WaitResult::kStopped;
    const bool ended =
        limits.state != nullptr && limits.state->load(std::memory_order_acquire) == limits.state_that_ends;
    if (ended || !peer.alive()) {
      // The peer may have published further steps and left since its counter was checked. These steps count.
      if (seen_at_last() >= target) return WaitResult::kReached;
      return ended ? WaitResult::kEnded : WaitResult::kPeerLost;
    }
    const std::int64_t now = now_ns();
    if (limits.pulse != nullptr) limits.pulse->beat(now);
    // A suspended job (SIGSTOP to all its processes) continues where it was. The time in which this process was stopped
    // does not count against the peer.
    if (now - looked_at > kAbsentNs) {
      grown_at += now - looked_at;
      if (stopped_since != 0) stopped_since += now - looked_at;
    }
    looked_at = now;
    // A counter only grows. A peer that moves its counter up and down makes no progress.
    if (now_seen > before) {
      before = now_seen;
      grown_at = now;
    }
    const bool looks = limits.stopped_timeout_ns != kNever;
    stopped_since = !looks || !peer.stopped() ? 0 : stopped_since == 0 ? now : stopped_since;
    const bool stopped = stopped_since != 0 && now - stopped_since >= limits.stopped_timeout_ns;
    if (!stopped && now - grown_at < limits.timeout_ns) continue;
    // A peer that was stopped between a step and its notification has nevertheless published the step.
    return seen_at_last() >= target ? WaitResult::kReached : WaitResult::kTimedOut;
  }
}

std::unique_ptr<Messages> make_messages_with(MakeMessages make, const std::string& socket) {
  if (make == nullptr) {
    throw usage_error("--coordination messages: this program was built without messages; expected locks");
  }
  return make(socket);
}

}  // namespace ringside
