// Sleeping on a word of shared memory until somebody changes it and says so: futex(2), for both processes and threads.
#pragma once

#include <cstdint>

namespace ringside {

/// Wakes at most `most` of those who sleep on the word.
void futex_wake(const void* word, int most) noexcept;

/// Sleeps if the word holds `expected`, until it is woken, for `at_most_ns`; may return early for no reason.
void futex_sleep(const void* word, std::uint32_t expected, std::int64_t at_most_ns) noexcept;

}  // namespace ringside
