// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/futex_coordination.hpp"

#include <atomic>
#include <bit>
#include <climits>

#include "common/platform/futex.hpp"

namespace ringside {
namespace {

// A futex is a 32-bit word. The low half of the counter changes with every step, and no sleep lasts as long as 2^32
// steps.
static_assert(std::endian::native == std::endian::little,
              "this code assumes that the low half of a counter comes first in memory");
const std::uint32_t* futex_word(const std::atomic<std::uint64_t>& counter) noexcept {
  return reinterpret_cast<const std::uint32_t*>(&counter);
}

}  // namespace

// One side stores its counter, then loads the peer's sleep word; the other side stores its sleep word, then loads the
// counter. A full fence is between the two accesses of each side. So either the first side finds the other one asleep
// and wakes it, or the other side finds the new counter and does not sleep (Dekker). The kernel compares the counter
// once more when the sleep begins, so a wake-up before that moment is not lost.
void FutexCoordination::announce() noexcept {
  if (words_.peer != nullptr) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (words_.peer_is_awake()) return;
  }
  announce_state();
}

void FutexCoordination::announce_state() noexcept {
  futex_wake(futex_word(own_), INT_MAX);
}

void FutexCoordination::sleep(std::uint64_t seen, std::int64_t at_most_ns) noexcept {
  if (words_.own != nullptr) {
    words_.own->store(kAsleep, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
  if (this->seen() == seen) {
    const bool in_time = futex_sleep(futex_word(other_), static_cast<std::uint32_t>(seen), at_most_ns);
    if (!in_time && this->seen() != seen) ++missed_wakes_;
  }
  if (words_.own != nullptr) words_.own->store(kAwake, std::memory_order_relaxed);
}

void FutexCoordination::relax() noexcept {
#if defined(__x86_64__)
  for (int i = 0; i < 16; ++i) __builtin_ia32_pause();
#endif
}

}  // namespace ringside
