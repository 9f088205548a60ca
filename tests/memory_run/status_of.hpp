// SPDX-License-Identifier: BSD-3-Clause
// How a forked child ended.
#pragma once

#include <sys/wait.h>

#include <cerrno>

namespace ringside::testing {

/// Waits for the child. Returns its exit code, or the negated number of the signal that ended it; -1000 if there is no
/// such child.
inline int status_of(pid_t child) {
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  if (child <= 0 || ended != child) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace ringside::testing
