// SPDX-License-Identifier: BSD-3-Clause
// Whether this process may open more descriptors (RLIMIT_NOFILE) and start more threads. The number of threads is
// limited for the user (RLIMIT_NPROC), for the cgroup (pids.max), and by the memory for the threads' stacks. Programs
// check these limits at the start, because libraries that reach a limit later abort, end the process, or retry
// indefinitely.
#pragma once

#include <cstddef>
#include <string_view>

namespace ringside {

/// Raises the soft limit of descriptors as far as the hard limit allows, and returns the new value. Throws Error (exit
/// code 3) if the new value is less than `needed`. program: the name of the program that needs the descriptors.
std::size_t ensure_descriptors(std::size_t needed, const char* program);

/// Throws Error (exit code 3) unless `count` more descriptors can be opened now.
void require_free_descriptors(std::size_t count, const char* what_for);

/// The advice for a user if a thread cannot be started.
inline constexpr std::string_view kNoMoreThreads =
    "raise `ulimit -u` or the cgroup's pids.max (threads), or `ulimit -d` and `ulimit -v` (memory: each thread has a "
    "stack "
    "of `ulimit -s`)";

/// Throws Error (exit code 3), whose text begins with `what_for`, unless `count` threads can be started now and some
/// memory then remains for them.
void require_threads(std::size_t count, const char* what_for);

}  // namespace ringside
