// SPDX-License-Identifier: BSD-3-Clause
// The signals that ask a process to stop cleanly: they set a flag that loops check between steps and that every wait
// checks. A second signal changes nothing; SIGKILL ends the process at once.
#pragma once

#include <signal.h>

#include <atomic>

namespace ringside {

/// SIGINT and SIGTERM. Also SIGHUP (the terminal was closed), SIGUSR1, SIGUSR2 and SIGXCPU (a batch system announces
/// that the time is nearly over), unless this process ignores them, as SIGHUP is ignored under nohup. SIGINT is
/// included even if ignored, because shells start background jobs with SIGINT ignored.
sigset_t stop_signals() noexcept;

/// Whether this signal may be a batch system's announcement to the user's program.
constexpr bool is_announcement(int number) noexcept {
  return number == SIGUSR1 || number == SIGUSR2 || number == SIGXCPU;
}

/// For a child process, before exec: makes it ignore the stop signals that may be ignored, because its parent acts on
/// them.
void leave_stop_signals_to_parent() noexcept;

/// Installs the handlers and returns the flag that they set, for a StopFlag (common/platform) or for ringside.h. The
/// flag is 0 until a signal arrives. Call it once, when there is work that must be stopped cleanly: before that, these
/// signals end the process at once.
const volatile int* catch_stop_signals();

/// From now on these signals also set `flag`, which may also be set for other reasons. `flag` must outlive the
/// process's last signal.
void also_set_on_stop(std::atomic<bool>& flag) noexcept;

/// From now on, writing to a pipe whose reader has gone, or to a file that may not grow, makes the call fail instead of
/// ending the process by a signal. Call it first in main.
void ignore_write_signals();

}  // namespace ringside
