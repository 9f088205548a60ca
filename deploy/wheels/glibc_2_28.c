// SPDX-License-Identifier: BSD-3-Clause
// What the wheels' programs need of a newer glibc than 2.28 (2018): the functions that GCC 12's own libraries, made for
// Debian 12, or the calls below ask for. Linked into each program and library of the wheels, visible in it only; deploy/wheels.sh
// links everything else with an older glibc. Each does what the newer function's manual says; none is used where speed matters.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(hidden)

// 2.32: whether the process has one thread. "No" is always right, and costs atomic reference counts.
char __libc_single_threaded = 0;

// 2.36, for std::random_device and libarchive.
void arc4random_buf(void* bytes, size_t count) {
  for (unsigned char* next = bytes; count > 0;) {
    const ssize_t got = getrandom(next, count, 0);
    if (got < 0 && errno != EINTR) abort();
    if (got <= 0) continue;
    next += got;
    count -= (size_t)got;
  }
}

uint32_t arc4random(void) {
  uint32_t number;
  arc4random_buf(&number, sizeof number);
  return number;
}

// 2.30.
pid_t gettid(void) {
  return (pid_t)syscall(SYS_gettid);
}

// 2.35, for the unwinder: the object that holds an address, and its table of frames.
struct Search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look(struct dl_phdr_info* object, size_t bytes, void* data) {
  (void)bytes;
  struct Search* search = data;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  void* frames = NULL;
  int holds = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    const uintptr_t at = object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD) {
      if (at < begin) begin = at;
      if (at + part->p_memsz > end) end = at + part->p_memsz;
      if (search->address >= at && search->address < at + part->p_memsz) holds = 1;
    } else if (part->p_type == PT_GNU_EH_FRAME) {
      frames = (void*)at;
    }
  }
  if (!holds) return 0;
  if (frames == NULL) return -1;
  search->found->dlfo_map_start = (void*)begin;
  search->found->dlfo_map_end = (void*)end;
  search->found->dlfo_eh_frame = frames;
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* found) {
  struct Search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look, &search) == 1 ? 0 : -1;
}

// 2.30: waits by a clock that is named. Before, these functions knew CLOCK_REALTIME only: the time that is left is added to it.
static struct timespec as_real_time(clockid_t clock, const struct timespec* until) {
  struct timespec now, real;
  if (clock == CLOCK_REALTIME) return *until;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += until->tv_sec - now.tv_sec;
  real.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (real.tv_nsec < 0) {
    real.tv_nsec += 1000000000;
    --real.tv_sec;
  } else if (real.tv_nsec >= 1000000000) {
    real.tv_nsec -= 1000000000;
    ++real.tv_sec;
  }
  return real;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  const struct timespec real = as_real_time(clock, until);
  return pthread_cond_timedwait(condition, mutex, &real);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  const struct timespec real = as_real_time(clock, until);
  return pthread_mutex_timedlock(mutex, &real);
}

// 2.29: the same functions with another way to report errors, which nobody here reads.
#define OLD_ONE(name, parameters, arguments)              \
  extern __attribute__((visibility("default"))) double old_##name parameters; \
  __asm__(".symver old_" #name ", " #name "@GLIBC_2.2.5"); \
  double name parameters { return old_##name arguments; }
OLD_ONE(exp, (double x), (x))
OLD_ONE(exp2, (double x), (x))
OLD_ONE(log, (double x), (x))
OLD_ONE(log2, (double x), (x))
OLD_ONE(pow, (double x, double y), (x, y))

#pragma GCC visibility pop
