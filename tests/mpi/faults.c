/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into an analyzer: a wall clock that is wrong, and a disk that fails.
 *   RINGSIDE_TEST_CLOCK_S=N           the wall clock is N seconds ahead
 *   RINGSIDE_TEST_SYNCS_FAIL_IF=FILE  while there is this file, every sync fails with EIO */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead_s(void) {
  const char* text = getenv("RINGSIDE_TEST_CLOCK_S");
  return text == NULL ? 0 : atol(text);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int status = (int)syscall(SYS_clock_gettime, clock, now);
  if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead_s();
  return status;
}

time_t time(time_t* to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != NULL) *to = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval* restrict to, void* restrict zone) {
  const int status = (int)syscall(SYS_gettimeofday, to, zone);
  if (status == 0) to->tv_sec += ahead_s();
  return status;
}

static int fails(void) {
  const char* file = getenv("RINGSIDE_TEST_SYNCS_FAIL_IF");
  if (file == NULL || access(file, F_OK) != 0) return 0;
  errno = EIO;
  return 1;
}

int fdatasync(int fd) {
  return fails() ? -1 : (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd) {
  return fails() ? -1 : (int)syscall(SYS_fsync, fd);
}

int msync(void* address, size_t bytes, int flags) {
  return fails() ? -1 : (int)syscall(SYS_msync, address, bytes, flags);
}
