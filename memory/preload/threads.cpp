// SPDX-License-Identifier: BSD-3-Clause
// A fault is handled on an alternate stack of the thread. So a small normal stack needs no space for the handler, and a
// stack in the arena may be absent. This file gives an alternate stack to every thread that pthread_create makes.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "memory/arena/granule_table.hpp"
#include "memory/core.hpp"
#include "memory/preload/interface.hpp"
#include "memory/preload/marked_pages.hpp"
#include "memory/preload/next.hpp"
#include "memory/preload/process.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {
namespace {

// Space for the kernel's frame (up to 3.5 KiB with AVX-512, more with AMX), for the library's frames, and for the
// frames of a program's handler.
constexpr size_t kStackBytes = size_t{1} << 16;
constexpr size_t kLeastStackBytes = 2048;  // the kernel's minimum

constinit pid_t process = 0;
constinit pthread_key_t key = 0;  // its value is the thread's stack, which the key's destructor releases

struct Given {
  stack_t stack;      // the stack that the program requested
  bool was_asked_for;
};
thread_local Given given = {};
thread_local void* own_stack = nullptr;

int use(void* stack, size_t bytes, int flags) {
  const stack_t now = {.ss_sp = stack, .ss_flags = flags, .ss_size = bytes};
  return static_cast<int>(-raw(SYS_sigaltstack, as_long(&now), 0));
}

int use_own_stack() {
  if (own_stack == nullptr) {
    const long at = raw(SYS_mmap, 0, kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (at < 0 && at > -4096) return static_cast<int>(-at);
    own_stack = reinterpret_cast<void*>(static_cast<uintptr_t>(at));
    pthread_setspecific(key, own_stack);
  }
  return use(own_stack, kStackBytes, 0);
}

void give_back(void* stack) {
  use(nullptr, 0, SS_DISABLE);
  raw(SYS_munmap, as_long(stack), kStackBytes);
  own_stack = nullptr;
}

struct Start {
  void* (*function)(void*);
  void* argument;
};

void* begin(void* start) {
  const Start what = *static_cast<Start*>(start);
  next()->free(start);
  use_own_stack();
  return what.function(what.argument);
}

/// Keeps a stack in DRAM if it is in the arena, because the kernel starts a thread on it with signals blocked.
void keep_stack(void* stack, size_t bytes) {
  if (!core.ready() || !table.owns(stack) || bytes == 0) return;
  const uint32_t first = table.page_of(stack);
  const auto inside = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(stack) & (kPage - 1));
  const int kept = errno;
  lock_pages(first, static_cast<uint32_t>((bytes + inside + kPage - 1) >> kPageShift));
  errno = kept;
}

}  // namespace

int start_threads() noexcept {
  note_process();
  const int error = pthread_key_create(&key, give_back);
  if (error != 0 || !settings.signals()) return error;
  return use_own_stack();
}

pid_t own_process() noexcept {
  return process;
}
void note_process() noexcept {
  process = static_cast<pid_t>(raw(SYS_getpid));
}

}  // namespace ringside::memory

using namespace ringside::memory;

RINGSIDE_MEMORY_INTERPOSED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                              void* (*function)(void*), void* argument) {
  const Next& real = *next();
  if (!core.ready() || !settings.signals()) return real.pthread_create(thread, attributes, function, argument);
  auto* const start = static_cast<Start*>(real.malloc(sizeof(Start)));
  if (start == nullptr) return EAGAIN;
  *start = {function, argument};
  const int error = real.pthread_create(thread, attributes, begin, start);
  if (error != 0) real.free(start);
  return error;
}

RINGSIDE_MEMORY_INTERPOSED int pthread_attr_setstack(pthread_attr_t* attributes, void* stack, size_t bytes) {
  keep_stack(stack, bytes);
  return next()->pthread_attr_setstack(attributes, stack, bytes);
}

// A program's alternate stack replaces the library's if it also has space for a fault.
RINGSIDE_MEMORY_INTERPOSED int sigaltstack(const stack_t* set, stack_t* before) {
  if (!core.ready() || !settings.signals()) return result_of(raw(SYS_sigaltstack, as_long(set), as_long(before)));
  stack_t now{};
  raw(SYS_sigaltstack, 0, as_long(&now));
  if (before != nullptr) {
    *before = given.was_asked_for ? given.stack : stack_t{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    if (given.was_asked_for) before->ss_flags = now.ss_flags & SS_ONSTACK;
  }
  if (set == nullptr) return 0;
  const bool off = (set->ss_flags & SS_DISABLE) != 0;
  int error = 0;
  if ((set->ss_flags & ~(SS_DISABLE | SS_ONSTACK | static_cast<int>(1u << 31))) != 0) {
    error = EINVAL;
  } else if (!off && set->ss_size < kLeastStackBytes) {
    error = ENOMEM;
  } else if ((now.ss_flags & SS_ONSTACK) != 0) {
    error = EPERM;
  } else if (!off && set->ss_size >= kStackBytes / 2) {
    keep_stack(set->ss_sp, set->ss_size);
    error = use(set->ss_sp, set->ss_size, set->ss_flags & ~SS_ONSTACK);
  } else {
    error = use_own_stack();  // a larger stack than the requested one
  }
  if (error != 0) return result_of(-error);
  given = {*set, !off};
  return 0;
}
