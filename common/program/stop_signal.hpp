// SIGINT and SIGTERM ask a process to stop cleanly: a flag that the loops look at between steps, and that every wait
// watches. A second signal changes nothing; SIGKILL is there for the impatient.
#pragma once

#include <atomic>

namespace ringside {

/// Installs the handlers and returns the flag they set. Call once, when there is something to stop cleanly: until then
/// these signals end the process at once.
const std::atomic<bool>& catch_stop_signals();

/// From now on these signals set `flag` as well: what else can end. It outlives the process's last signal.
void also_set_on_stop(std::atomic<bool>& flag) noexcept;

/// A pipe whose reader went away, or a file that may not grow, becomes an error of the call that hit it instead of a
/// signal that ends the process. Call first thing in main.
void ignore_write_signals();

}  // namespace ringside
