// SPDX-License-Identifier: BSD-3-Clause
// The functions behind this library's: those of the next library with the symbol, the C library or another malloc.
// dlsym(3) finds them, and may allocate itself. Until then, memory comes from a small buffer that is never released.
#pragma once

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/select.h>

namespace ringside::memory {

struct Next {
  void* (*malloc)(size_t);
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void (*free)(void*);
  void* (*memalign)(size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  void* (*valloc)(size_t);
  void* (*pvalloc)(size_t);
  size_t (*malloc_usable_size)(void*);
  int (*sigaction)(int, const struct sigaction*, struct sigaction*);
  int (*sigsuspend)(const sigset_t*);
  int (*ppoll)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*);
  int (*ppoll_checked)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*, size_t);
  int (*pselect)(int, fd_set*, fd_set*, fd_set*, const struct timespec*, const sigset_t*);
  int (*epoll_pwait)(int, struct epoll_event*, int, int, const sigset_t*);
  int (*epoll_pwait2)(int, struct epoll_event*, int, const struct timespec*, const sigset_t*);
  void (*exit_at_once)(int);
  long (*ptrace)(long, long, void*, void*);
  int (*setuid)(uid_t);
  int (*setgid)(gid_t);
  int (*seteuid)(uid_t);
  int (*setegid)(gid_t);
  int (*setreuid)(uid_t, uid_t);
  int (*setregid)(gid_t, gid_t);
  int (*setresuid)(uid_t, uid_t, uid_t);
  int (*setresgid)(gid_t, gid_t, gid_t);
  int (*pthread_create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  int (*pthread_attr_setstack)(pthread_attr_t*, void*, size_t);
  int (*pthread_attr_setsigmask_np)(pthread_attr_t*, const sigset_t*);
};

/// The functions; nullptr while this thread searches for them.
const Next* next() noexcept;

/// The buffer for the time before they are found.
void* early_alloc(size_t alignment, size_t bytes) noexcept;
bool is_early(const void* memory) noexcept;
size_t early_bytes(const void* memory) noexcept;

}  // namespace ringside::memory
