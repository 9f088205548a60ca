// What /proc tells of another process: whether a signal stopped it, which no hang-up and no pidfd shows.
#pragma once

#include <sys/types.h>

namespace ringside {

/// True while that process is stopped by a signal (SIGSTOP, SIGTSTP). False where /proc cannot be read.
bool is_stopped(pid_t pid) noexcept;

}  // namespace ringside
