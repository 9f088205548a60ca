#include "common/counter_wait.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <ctime>

#include "common/clock.hpp"

namespace ringside {
namespace {

// 50 ms: the longest a death goes unnoticed.
constexpr std::int64_t kSliceNs = 50'000'000;

// No look at the peer takes as long as this: if one did, it was we who were stopped.
constexpr std::int64_t kAbsentNs = 1'000'000'000;

// A futex is a 32-bit word. The low half of the counter changes with every step, and 2^32 steps do not fit one sleep.
static_assert(std::endian::native == std::endian::little, "the low half of a counter is taken to come first");
const std::uint32_t* futex_word(const std::atomic<std::uint64_t>& counter) noexcept {
  return reinterpret_cast<const std::uint32_t*>(&counter);
}

void sleep_while_equal(const std::atomic<std::uint64_t>& counter, std::uint64_t seen,
                       std::int64_t at_most_ns) noexcept {
  const timespec time{at_most_ns / 1'000'000'000, at_most_ns % 1'000'000'000};
  syscall(SYS_futex, futex_word(counter), FUTEX_WAIT, static_cast<std::uint32_t>(seen), &time, nullptr, 0);
}

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

bool spin(const std::atomic<std::uint64_t>& counter, std::uint64_t target, std::int64_t for_ns) noexcept {
  for (const std::int64_t end = now_ns() + for_ns; now_ns() < end;) {
    for (int i = 0; i < 16; ++i) relax();
    if (counter.load(std::memory_order_acquire) >= target) return true;
  }
  return false;
}

}  // namespace

WaitResult wait_until(const std::atomic<std::uint64_t>& counter, std::uint64_t target, const Peer& peer,
                      const WaitLimits& limits) noexcept {
  std::uint64_t seen = counter.load(std::memory_order_acquire);
  if (seen >= target) return WaitResult::kReached;

  std::int64_t grown_at = now_ns();
  std::int64_t looked_at = grown_at;
  std::int64_t stopped_since = 0;  // 0: the peer is not stopped
  bool spun = limits.spin_ns == 0;
  for (;;) {
    const std::int64_t early_ns = limits.not_before_ns - now_ns();
    if (!spun && early_ns <= 0) {
      if (spin(counter, target, limits.spin_ns)) return WaitResult::kReached;
      spun = true;
    }
    const std::int64_t sleep_ns = spun ? std::min(kSliceNs, limits.timeout_ns) : std::min(kSliceNs, early_ns);
    sleep_while_equal(counter, seen, std::max<std::int64_t>(sleep_ns, 1));
    const std::uint64_t now_seen = counter.load(std::memory_order_acquire);
    if (now_seen >= target) return WaitResult::kReached;
    if (limits.stop != nullptr && limits.stop->load(std::memory_order_relaxed)) return WaitResult::kStopped;
    const bool ended =
        limits.state != nullptr && limits.state->load(std::memory_order_acquire) == limits.state_that_ends;
    if (ended || !peer.alive()) {
      // It may have published and left between our load and this look: what it published counts.
      if (counter.load(std::memory_order_acquire) >= target) return WaitResult::kReached;
      return ended ? WaitResult::kEnded : WaitResult::kPeerLost;
    }
    const std::int64_t now = now_ns();
    // A job that is suspended (SIGSTOP to all of it) goes on where it was: the peer is not to blame for our absence.
    if (now - looked_at > kAbsentNs) {
      grown_at += now - looked_at;
      if (stopped_since != 0) stopped_since += now - looked_at;
    }
    looked_at = now;
    if (now_seen != seen) {
      seen = now_seen;
      grown_at = now;
    }
    if (now - grown_at >= limits.timeout_ns) return WaitResult::kTimedOut;
    if (limits.stopped_timeout_ns == kNever) continue;
    stopped_since = !peer.stopped() ? 0 : stopped_since == 0 ? now : stopped_since;
    if (stopped_since != 0 && now - stopped_since >= limits.stopped_timeout_ns) return WaitResult::kTimedOut;
  }
}

void wake(const std::atomic<std::uint64_t>& counter) noexcept {
  syscall(SYS_futex, futex_word(counter), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace ringside
