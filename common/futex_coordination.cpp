#include "common/futex_coordination.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <climits>
#include <ctime>

namespace ringside {
namespace {

// A futex is a 32-bit word. The low half of the counter changes with every step, and 2^32 steps do not fit one sleep.
static_assert(std::endian::native == std::endian::little, "the low half of a counter is taken to come first");
const std::uint32_t* futex_word(const std::atomic<std::uint64_t>& counter) noexcept {
  return reinterpret_cast<const std::uint32_t*>(&counter);
}

}  // namespace

void FutexCoordination::announce() noexcept {
  syscall(SYS_futex, futex_word(own_), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void FutexCoordination::sleep(std::uint64_t seen, std::int64_t at_most_ns) noexcept {
  const timespec time{at_most_ns / 1'000'000'000, at_most_ns % 1'000'000'000};
  syscall(SYS_futex, futex_word(other_), FUTEX_WAIT, static_cast<std::uint32_t>(seen), &time, nullptr, 0);
}

void FutexCoordination::relax() noexcept {
#if defined(__x86_64__)
  for (int i = 0; i < 16; ++i) __builtin_ia32_pause();
#endif
}

}  // namespace ringside
