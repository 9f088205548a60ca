// SPDX-License-Identifier: BSD-3-Clause
// The state of another process, from /proc: whether a signal stopped it. Neither a hang-up nor a pidfd shows that.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace ringside {

/// True while that process is stopped by a signal (SIGSTOP, SIGTSTP). False where /proc cannot be read.
bool is_stopped(pid_t pid) noexcept;

/// When that process started, in clock ticks since the machine's start; 0 where /proc cannot be read.
std::uint64_t start_of(pid_t pid) noexcept;

}  // namespace ringside
