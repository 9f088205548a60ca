/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to preload. In an analyzer, it makes the wall clock wrong or the disk fail. In a rank, it runs a command
 * while the rank reads.
 *   RINGSIDE_TEST_CLOCK_S=N           the wall clock is N seconds ahead
 *   RINGSIDE_TEST_SYNCS_FAIL_IF=FILE  while FILE exists, every sync fails with EIO
 *   RINGSIDE_TEST_AT_FIRST_READ=COMMAND  a shell runs COMMAND before the first pread of a pool */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int is_pool(int fd) {
  char link[32];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path);
  return length > 5 && memcmp(path + length - 5, ".pool", 5) == 0;
}

ssize_t pread(int fd, void* to, size_t bytes, off_t at) {
  const char* command = getenv("RINGSIDE_TEST_AT_FIRST_READ");
  if (command != NULL && is_pool(fd)) {
    char* own = strdup(command);
    unsetenv("RINGSIDE_TEST_AT_FIRST_READ");
    if (system(own) != 0) _exit(99);
    free(own);
  }
  return syscall(SYS_pread64, fd, to, bytes, at);
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
