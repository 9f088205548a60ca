// SPDX-License-Identifier: BSD-3-Clause
// Sleeping on a word of shared memory until a thread of any process changes it and wakes the sleepers: futex(2).
#pragma once

#include <cstdint>

namespace ringside {

/// Wakes at most `most` of the threads that sleep on the word.
void futex_wake(const void* word, int most) noexcept;

/// If the word holds `expected`, sleeps until it is woken, at most `at_most_ns`. May return early for no reason.
void futex_sleep(const void* word, std::uint32_t expected, std::int64_t at_most_ns) noexcept;

}  // namespace ringside
