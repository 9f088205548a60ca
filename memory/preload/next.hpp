// SPDX-License-Identifier: BSD-3-Clause
// For each function that this library replaces: the original function, in the C library or in another malloc library
// that is loaded next. dlsym(3) finds these functions, and may itself allocate memory. Until they are found, memory
// comes from a small buffer that is never released.
#pragma once

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

namespace ringside::memory {

/// `of` is a macro for the name of each function that the headers declare.
#define RINGSIDE_MEMORY_NEXT(of)                                                                                      \
  of(malloc) of(calloc) of(realloc) of(free) of(memalign) of(aligned_alloc) of(malloc_usable_size) of(sigaction)      \
      of(sigsuspend) of(ppoll) of(pselect) of(epoll_pwait) of(setuid) of(setgid) of(seteuid) of(setegid) of(setreuid) \
          of(setregid) of(setresuid) of(setresgid) of(pthread_create) of(pthread_attr_setstack)                       \
              of(pthread_attr_setsigmask_np)

struct Next {
#define RINGSIDE_MEMORY_MEMBER(name) decltype(&::name) name;
  RINGSIDE_MEMORY_NEXT(RINGSIDE_MEMORY_MEMBER)
#undef RINGSIDE_MEMORY_MEMBER
  int (*ppoll_checked)(struct pollfd*, nfds_t, const struct timespec*, const sigset_t*, size_t);
  int (*epoll_pwait2)(int, struct epoll_event*, int, const struct timespec*, const sigset_t*);
  void (*exit_at_once)(int);
  long (*ptrace)(long, long, void*, void*);
};

/// The functions; nullptr while this thread searches for them.
const Next* next() noexcept;

/// Allocates from the buffer that is used until the functions are found.
void* early_alloc(size_t alignment, size_t bytes) noexcept;
bool is_early(const void* memory) noexcept;
size_t early_bytes(const void* memory) noexcept;

}  // namespace ringside::memory
