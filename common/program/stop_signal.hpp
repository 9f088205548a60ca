// SPDX-License-Identifier: BSD-3-Clause
// SIGINT and SIGTERM ask a process to stop cleanly: they set a flag that the loops check between steps, and that every
// wait checks. A second signal changes nothing; SIGKILL ends the process at once.
#pragma once

#include <atomic>

namespace ringside {

/// Installs the handlers and returns the flag they set, for a StopFlag (common/platform) or for ringside.h: 0 until a
/// signal comes. Call once, when there is something to stop cleanly: until then these signals end the process at once.
const volatile int* catch_stop_signals();

/// From now on these signals also set `flag`, which may have other reasons to be set. It outlives the process's last
/// signal.
void also_set_on_stop(std::atomic<bool>& flag) noexcept;

/// From now on a pipe whose reader has gone, or a file that may not grow, makes the call fail, instead of ending the
/// process by a signal. Call it first in main.
void ignore_write_signals();

}  // namespace ringside
