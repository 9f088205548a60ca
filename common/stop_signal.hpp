// SIGINT and SIGTERM ask a process to stop cleanly: a flag that the loops look at between steps, and that every wait
// watches. A second signal changes nothing; SIGKILL is there for the impatient.
#pragma once

#include <atomic>

namespace ringside {

/// Installs the handlers and returns the flag they set. Also ignores SIGPIPE: when the reader of our reports or our log
/// is gone, a write fails, and the clean stop goes on. Call once, in main.
const std::atomic<bool>& catch_stop_signals();

}  // namespace ringside
