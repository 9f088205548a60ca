// SPDX-License-Identifier: BSD-3-Clause
// What fsync does in addition in analyzer_tests: pool_creation_test.cpp replaces the C library's fsync by a function
// that calls `on_fsync`. on_fsync counts the calls, and kills the process in a chosen call.
#pragma once

#include <sys/stat.h>

#include <csignal>

namespace ringside {

inline int syncs_until_killed = -1;  // below 0: no call kills the process
inline int folders_synced = 0;
inline int files_synced = 0;

inline void on_fsync(int fd) {
  if (syncs_until_killed == 0) raise(SIGKILL);
  if (syncs_until_killed > 0) --syncs_until_killed;
  struct stat status {};
  if (fstat(fd, &status) == 0) ++(S_ISDIR(status.st_mode) ? folders_synced : files_synced);
}

}  // namespace ringside
