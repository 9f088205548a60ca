// SPDX-License-Identifier: BSD-3-Clause
#include "common/handoff/futex_coordination.hpp"

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

void FutexCoordination::announce() noexcept {
  futex_wake(futex_word(own_), INT_MAX);
}

void FutexCoordination::sleep(std::uint64_t seen, std::int64_t at_most_ns) noexcept {
  futex_sleep(futex_word(other_), static_cast<std::uint32_t>(seen), at_most_ns);
}

void FutexCoordination::relax() noexcept {
#if defined(__x86_64__)
  for (int i = 0; i < 16; ++i) __builtin_ia32_pause();
#endif
}

}  // namespace ringside
