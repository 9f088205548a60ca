// SPDX-License-Identifier: BSD-3-Clause
// Functions for futex(2): a thread sleeps on a word of shared memory until a thread of any process changes the word and
// wakes the sleeping threads.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace ringside {

/// Wakes at most `most` of the threads that sleep on the word.
inline void futex_wake(const void* word, int most) noexcept {
  syscall(SYS_futex, word, FUTEX_WAKE, most, nullptr, nullptr, 0);
}

/// If the word has the value `expected`, sleeps until it is woken, at most `at_most_ns`. May return early without a
/// cause. Returns false if the time was over.
inline bool futex_sleep(const void* word, std::uint32_t expected, std::int64_t at_most_ns) noexcept {
  const timespec time{at_most_ns / 1'000'000'000, at_most_ns % 1'000'000'000};
  return syscall(SYS_futex, word, FUTEX_WAIT, expected, &time, nullptr, 0) == 0 || errno != ETIMEDOUT;
}

}  // namespace ringside
