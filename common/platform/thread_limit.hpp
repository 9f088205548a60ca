// SPDX-License-Identifier: BSD-3-Clause
// Whether this process may start more threads: a user's processes (RLIMIT_NPROC), a cgroup's (pids.max), and the memory of
// their stacks are limited. Checked beforehand: libraries that cannot start a thread abort, or end the process.
#pragma once

#include <cstddef>
#include <string_view>

namespace ringside {

/// What a user is told where a thread cannot be started.
inline constexpr std::string_view kNoMoreThreads =
    "raise `ulimit -u` or the cgroup's pids.max (threads), or `ulimit -d` and `ulimit -v` (memory: each thread has a stack "
    "of `ulimit -s`)";

/// Throws Error (exit code 3), which begins with `what_for`, unless `count` threads can be started at once now, and some
/// memory is left to them.
void require_threads(std::size_t count, const char* what_for);

}  // namespace ringside
