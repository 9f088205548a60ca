// SPDX-License-Identifier: BSD-3-Clause
// Start, fork and end of the process: the arena starts before main; a forked child gets a copy of the arena, or no
// arena; the account is completed when the process ends.
#include "memory/preload/process.hpp"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <initializer_list>

#include "memory/arena/granule_table.hpp"
#include "memory/calls/calls.hpp"
#include "memory/core.hpp"
#include "memory/preload/account.hpp"
#include "memory/preload/environment.hpp"
#include "memory/preload/gate.hpp"
#include "memory/preload/interface.hpp"
#include "memory/preload/marked_pages.hpp"
#include "memory/preload/next.hpp"
#include "memory/ringside_memory.h"
#include "memory/system/line.hpp"

namespace ringside::memory {
namespace {

constinit long copy_for_child = -1;  // a descriptor; valid from the preparation of a fork to its end
constinit uint64_t mask_before_fork = 0;
// If a parent had no allocations, its child starts its arena only at its first allocation, because most children
// allocate nothing and call exec.
constinit std::atomic<uint32_t> starts_late{0};
constinit Lock late_lock;

constinit long command = 0;  // the process of `ringside-memory run`, if it is the parent

// Makes the kernel end PROGRAM when its command ends (PR_SET_PDEATHSIG). The kernel drops this request when a process
// changes its user.
void end_with_command() {
  if (command == 0 || raw(SYS_getppid) != command) return;
  raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (raw(SYS_getppid) != command) raw(SYS_kill, raw(SYS_getpid), SIGKILL);  // the command died in between
}

[[noreturn]] void end_at_once(int code) {
  raw(SYS_exit_group, code);
  __builtin_unreachable();
}

void adopt(int copy) {
  if (adopt_copy(copy, settings.signals(), false) != 0) {
    print_line(ringside_memory_error());
    end_at_once(3);
  }
}

// Until the fork is complete, no handler of the program runs. In the child, a handler would find no arena. And a
// handler that allocates would wait for the gate that this thread has closed. SIGSYS and SIGBUS stay unblocked, as
// always.
void before_fork() {
  const uint64_t all = ~(uint64_t{1} << (SIGBUS - 1) | uint64_t{1} << (SIGSYS - 1));
  uint64_t before = 0;
  raw(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&all), as_long(&before), sizeof all);
  gate.close();
  mask_before_fork = before;  // only one thread forks at a time
  copy_for_child = -1;
  if (!core.ready()) return;
  starts_late.store(core.far_bytes.load() == 0 ? 1 : 0);
  if (starts_late.load() != 0) return;
  uint64_t bytes = 0;
  if (settings.copy_at_fork) copy_for_child = write_copy(settings.far_folder, &bytes);
  account.count_fork(copy_for_child >= 0, bytes);
}

void after_fork_in_parent() {
  const uint64_t before = mask_before_fork;
  if (copy_for_child >= 0) raw(SYS_close, copy_for_child);
  if (core.ready()) starts_late.store(0);
  gate.open();
  raw(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&before), 0, sizeof before);
}

void start_in_child() {
  note_process();
  account.start_in_child();
  gate.open();
  if (table.bytes() == 0) return;  // neither this process nor its parent had an arena
  forget_locks();
  if (starts_late.load() != 0) return;
  if (copy_for_child < 0) {
    adopt_nothing(settings.signals());
    return;
  }
  adopt(static_cast<int>(copy_for_child));
  wipe_in_child();
}

void after_fork_in_child() {
  start_in_child();
  raw(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&mask_before_fork), 0, sizeof mask_before_fork);
}

/// Removes the library's entries from the environment, so that children of the program run without the library.
void leave_environment() {
  const char* const loaded = getenv("LD_PRELOAD");
  const char* const at = loaded == nullptr ? nullptr : strstr(loaded, kPreloadName);
  if (at != nullptr) {
    // `run` puts the library first in the list.
    const char* rest = at + strlen(kPreloadName);
    if (*rest == ':') ++rest;
    if (*rest == '\0') {
      unsetenv("LD_PRELOAD");
    } else {
      setenv("LD_PRELOAD", rest, 1);
    }
  }
  for (const char* name : {kDramVariable, kFarVariable, kFarLimitVariable, kMinSizeVariable, kFaultsVariable,
                           kForkVariable, kNoreserveVariable, kFirstOnlyVariable, kAccountVariable, kLevelVariable}) {
    unsetenv(name);
  }
}

/// A system call filter stays across exec and traps the old arena's addresses. So if a program with an arena starts
/// another program, the arena of that program is placed at other addresses.
void use_next_place() {
  const char* const text = getenv(kLevelVariable);
  const unsigned long level = text == nullptr ? 0 : strtoul(text, nullptr, 10);
  table.place_at(static_cast<uint32_t>(level % GranuleTable::kPlaces));
  Line next_level;
  next_level << uint64_t{level + 1};
  setenv(kLevelVariable, next_level.text(), 1);
}

__attribute__((constructor(101))) void start() {
  next();
  if (!read_settings()) end_at_once(2);
  if (settings.dram_bytes == 0) return;
  // A signal that was blocked before exec stays blocked, so both signals are unblocked here.
  const uint64_t open = uint64_t{1} << (SIGBUS - 1) | uint64_t{1} << (SIGSYS - 1);
  raw(SYS_rt_sigprocmask, SIG_UNBLOCK, as_long(&open), 0, sizeof open);
  struct ringside_memory_options options {};
  options.struct_bytes = sizeof options;
  options.far_folder = settings.far_folder;
  options.dram_bytes = settings.dram_bytes;
  options.far_bytes = settings.far_bytes;
  options.faults = settings.faults;
  options.system_calls = 1;
  options.in_place = 2;  // a program may protect its memory and catch SIGSEGV
  keep_descriptors();
  use_next_place();
  const bool started = start_threads() == 0 && ringside_memory_start(&options) == 0;
  if (!started || pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) != 0) {
    print_line(ringside_memory_error());
    end_at_once(3);
  }
  // The account's path is /proc/PID/fd/N, where PID is the command's process.
  const char* const page = getenv(kAccountVariable);
  const long owner = page == nullptr || strncmp(page, "/proc/", 6) != 0 ? 0 : strtol(page + 6, nullptr, 10);
  command = owner == raw(SYS_getppid) ? owner : 0;
  account.start();
  if (settings.first_only) leave_environment();
}

__attribute__((destructor(101))) void finish() {
  account.finish();
}

}  // namespace

bool starts_now() noexcept {
  if (starts_late.load(std::memory_order_acquire) == 0) return false;
  const ThroughGate through;  // prevents that a fork happens meanwhile
  const Held held(late_lock);
  if (starts_late.load() == 0) return core.ready();
  uint64_t none = 0;
  const long empty = write_copy(settings.far_folder, &none);
  if (empty < 0) {
    Line line;
    line << "the arena of a forked child: no file can be made in " << settings.far_folder << " ("
         << error_text(empty) << "); expected a folder that can be written";
    print_line(line.text());
    end_at_once(3);
  }
  adopt(static_cast<int>(empty));
  starts_late.store(0, std::memory_order_release);
  return true;
}

}  // namespace ringside::memory

using namespace ringside::memory;

// A child of vfork also ends here, and must not write to its parent's account.
RINGSIDE_MEMORY_INTERPOSED void _exit(int code) {
  if (core.ready() && raw(SYS_getpid) == own_process()) account.finish();
  next()->exit_at_once(code);
  __builtin_unreachable();
}
RINGSIDE_MEMORY_INTERPOSED void _Exit(int code) {
  _exit(code);
}

// A debugger starts its program by vfork, and the child requests tracing. (The header of ptrace is not included: its
// enumeration cannot be the last parameter before variable arguments.)
RINGSIDE_MEMORY_INTERPOSED long ptrace(int request, ...) noexcept {
  constexpr int kTraceMe = 0;  // PTRACE_TRACEME
  va_list rest;
  va_start(rest, request);
  const long process = va_arg(rest, long);
  void* const address = va_arg(rest, void*);
  void* const data = va_arg(rest, void*);
  va_end(rest);
  const bool waits =
      request == kTraceMe && core.ready() && raw(SYS_getpid) != own_process() && calls.trace_at_exec();
  return waits ? 0 : next()->ptrace(request, process, address, data);
}

#define RINGSIDE_MEMORY_CHANGES_USER(name, parameters, arguments) \
  RINGSIDE_MEMORY_INTERPOSED int name parameters noexcept {       \
    const int result = next()->name arguments;                    \
    end_with_command();                                           \
    return result;                                                \
  }
RINGSIDE_MEMORY_CHANGES_USER(setuid, (uid_t user), (user))
RINGSIDE_MEMORY_CHANGES_USER(setgid, (gid_t group), (group))
RINGSIDE_MEMORY_CHANGES_USER(seteuid, (uid_t user), (user))
RINGSIDE_MEMORY_CHANGES_USER(setegid, (gid_t group), (group))
RINGSIDE_MEMORY_CHANGES_USER(setreuid, (uid_t user, uid_t effective), (user, effective))
RINGSIDE_MEMORY_CHANGES_USER(setregid, (gid_t group, gid_t effective), (group, effective))
RINGSIDE_MEMORY_CHANGES_USER(setresuid, (uid_t user, uid_t effective, uid_t saved), (user, effective, saved))
RINGSIDE_MEMORY_CHANGES_USER(setresgid, (gid_t group, gid_t effective, gid_t saved), (group, effective, saved))
