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

// A futex is a 32-bit word. The low half of the counter changes with every step, and 2^32 steps do not fit one sleep.
static_assert(std::endian::native == std::endian::little, "the low half of a counter is taken to come first");
const std::uint32_t* futex_word(const std::atomic<std::uint64_t>& counter) noexcept {
  return reinterpret_cast<const std::uint32_t*>(&counter);
}

void sleep_while_equal(const std::atomic<std::uint64_t>& counter, std::uint64_t seen, std::int64_t at_most_ns) noexcept {
  const timespec time{at_most_ns / 1'000'000'000, at_most_ns % 1'000'000'000};
  syscall(SYS_futex, futex_word(counter), FUTEX_WAIT, static_cast<std::uint32_t>(seen), &time, nullptr, 0);
}

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

WaitResult wait_until(const std::atomic<std::uint64_t>& counter, std::uint64_t target, const Peer& peer,
                      const WaitLimits& limits) noexcept {
  std::uint64_t seen = counter.load(std::memory_order_acquire);
  if (seen >= target) return WaitResult::kReached;

  std::int64_t grown_at = now_ns();
  for (const std::int64_t spin_end = grown_at + limits.spin_ns; now_ns() < spin_end;) {
    for (int i = 0; i < 16; ++i) relax();
    seen = counter.load(std::memory_order_acquire);
    if (seen >= target) return WaitResult::kReached;
  }

  for (;;) {
    sleep_while_equal(counter, seen, std::min(kSliceNs, std::max<std::int64_t>(limits.timeout_ns, 1)));
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
    if (now_seen != seen) {
      seen = now_seen;
      grown_at = now;
    }
    if (now - grown_at >= limits.timeout_ns) return WaitResult::kTimedOut;
  }
}

void wake(const std::atomic<std::uint64_t>& counter) noexcept {
  syscall(SYS_futex, futex_word(counter), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace ringside
