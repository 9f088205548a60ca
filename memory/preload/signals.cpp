// SPDX-License-Identifier: BSD-3-Clause
// SIGBUS (a fault of the arena) and SIGSYS (a trap of a system call) must never be blocked, because a blocked signal
// would end the process at a fault or a trap. So this file removes both signals from every mask that the program sets.
// The program's own handlers of these signals are called if a signal has another cause.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "memory/calls/calls.hpp"
#include "memory/core.hpp"
#include "memory/faults/bus_errors.hpp"
#include "memory/preload/interface.hpp"
#include "memory/preload/next.hpp"
#include "memory/preload/process.hpp"
#include "memory/system/raw.hpp"

using namespace ringside::memory;

namespace {

constexpr uint64_t bit(int number) {
  return uint64_t{1} << (number - 1);
}
constexpr uint64_t kKeptOpen = bit(SIGBUS) | bit(SIGSYS);
constexpr uint64_t kOfGlibc = bit(32) | bit(33);  // for cancellation and setuid; glibc's own functions omit them

uint64_t kernel_mask(const sigset_t* set) {
  uint64_t mask = 0;
  memcpy(&mask, set, sizeof mask);
  return mask;
}

/// A copy of a set without the signals that must stay unblocked; nullptr stays nullptr.
class Opened {
 public:
  explicit Opened(const sigset_t* set) : given_(set != nullptr) {
    if (!given_) return;
    set_ = *set;
    sigdelset(&set_, SIGBUS);
    sigdelset(&set_, SIGSYS);
  }
  operator const sigset_t*() const { return given_ ? &set_ : nullptr; }

 private:
  bool given_;
  sigset_t set_;
};

int set_mask(int how, const sigset_t* set, sigset_t* before) {
  uint64_t mask = set == nullptr ? 0 : kernel_mask(set) & ~kOfGlibc, old = 0;
  if (how == SIG_BLOCK || how == SIG_SETMASK) mask &= ~kKeptOpen;
  const long result =
      raw(SYS_rt_sigprocmask, how, set == nullptr ? 0 : as_long(&mask), as_long(&old), sizeof mask);
  if (result < 0) return static_cast<int>(-result);
  if (before != nullptr) {
    memset(before, 0, sizeof *before);
    memcpy(before, &old, sizeof old);
  }
  return 0;
}

/// A child of vfork(2) shares this process's memory, but not its handlers. A forked child has the handlers even before
/// its arena starts.
bool is_ours(int number) {
  if (raw(SYS_getpid) != own_process()) return false;
  return (number == SIGBUS && bus_errors.handles(SIGBUS)) || (number == SIGSYS && calls.handling());
}

using Handler = void (*)(int);

Handler set_handler(int number, Handler handler, int flags) {
  struct sigaction action {}, before {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  if ((flags & SA_NODEFER) == 0) sigaddset(&action.sa_mask, number);
  return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

}  // namespace

RINGSIDE_MEMORY_INTERPOSED int sigaction(int number, const struct sigaction* set, struct sigaction* before) {
  const Next* const real = next();
  if (is_ours(number)) {
    // The program's structures may be in the arena, so they must not be accessed while signals are blocked.
    struct sigaction wanted {}, had {};
    if (set != nullptr) wanted = *set;
    const struct sigaction* const now = set == nullptr ? nullptr : &wanted;
    {
      const SignalsBlocked blocked;
      if (number == SIGBUS) {
        bus_errors.program_handler(number, now, &had);
      } else {
        calls.program_handler(now, &had);
      }
    }
    if (before != nullptr) *before = had;
    return 0;
  }
  struct sigaction open {};
  if (set != nullptr) {
    open = *set;
    open.sa_mask = *Opened(&set->sa_mask);
  }
  return real->sigaction(number, set == nullptr ? nullptr : &open, before);
}

// The C library's versions of the following functions do not call sigaction through its symbol.
RINGSIDE_MEMORY_INTERPOSED Handler signal(int number, Handler handler) {
  return set_handler(number, handler, SA_RESTART);
}
RINGSIDE_MEMORY_INTERPOSED Handler bsd_signal(int number, Handler handler) {
  return set_handler(number, handler, SA_RESTART);
}
RINGSIDE_MEMORY_INTERPOSED Handler ssignal(int number, Handler handler) {
  return set_handler(number, handler, SA_RESTART);
}
RINGSIDE_MEMORY_INTERPOSED Handler sysv_signal(int number, Handler handler) {
  return set_handler(number, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}
RINGSIDE_MEMORY_INTERPOSED Handler __sysv_signal(int number, Handler handler) {
  return set_handler(number, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}

RINGSIDE_MEMORY_INTERPOSED int sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  return result_of(-set_mask(how, set, before));
}
RINGSIDE_MEMORY_INTERPOSED int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  return set_mask(how, set, before);
}
RINGSIDE_MEMORY_INTERPOSED int pthread_attr_setsigmask_np(pthread_attr_t* attributes, const sigset_t* set) {
  return next()->pthread_attr_setsigmask_np(attributes, Opened(set));
}

// The wait uses another mask, which also applies to a handler that runs during the wait.
RINGSIDE_MEMORY_INTERPOSED int sigsuspend(const sigset_t* set) {
  return next()->sigsuspend(Opened(set));
}
RINGSIDE_MEMORY_INTERPOSED int ppoll(struct pollfd* files, nfds_t count, const struct timespec* time,
                                     const sigset_t* set) {
  return next()->ppoll(files, count, time, Opened(set));
}
// With _FORTIFY_SOURCE, ppoll becomes this function.
RINGSIDE_MEMORY_INTERPOSED int __ppoll_chk(struct pollfd* files, nfds_t count, const struct timespec* time,
                                           const sigset_t* set, size_t room_of_files) {
  return next()->ppoll_checked(files, count, time, Opened(set), room_of_files);
}
RINGSIDE_MEMORY_INTERPOSED int pselect(int count, fd_set* readable, fd_set* writable, fd_set* failed,
                                       const struct timespec* time, const sigset_t* set) {
  return next()->pselect(count, readable, writable, failed, time, Opened(set));
}
RINGSIDE_MEMORY_INTERPOSED int epoll_pwait(int file, struct epoll_event* events, int count, int timeout,
                                           const sigset_t* set) {
  return next()->epoll_pwait(file, events, count, timeout, Opened(set));
}
RINGSIDE_MEMORY_INTERPOSED int epoll_pwait2(int file, struct epoll_event* events, int count,
                                            const struct timespec* time, const sigset_t* set) {
  if (next()->epoll_pwait2 == nullptr) return result_of(-ENOSYS);  // glibc before 2.35
  return next()->epoll_pwait2(file, events, count, time, Opened(set));
}
