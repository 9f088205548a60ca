// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace ringside {

void futex_wake(const void* word, int most) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE, most, nullptr, nullptr, 0);
}

void futex_sleep(const void* word, std::uint32_t expected, std::int64_t at_most_ns) noexcept {
  const timespec time{at_most_ns / 1'000'000'000, at_most_ns % 1'000'000'000};
  syscall(SYS_futex, word, FUTEX_WAIT, expected, &time, nullptr, 0);
}

}  // namespace ringside
