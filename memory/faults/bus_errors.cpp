// SPDX-License-Identifier: BSD-3-Clause
#include "memory/faults/bus_errors.hpp"

#include <errno.h>
#include <ucontext.h>

#include <initializer_list>

#include "memory/arena/granule_table.hpp"
#include "memory/core.hpp"
#include "memory/faults/resolve.hpp"
#include "memory/in_place/in_place.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {

constinit BusErrors bus_errors;
void (*after_fault)() noexcept = nullptr;

namespace {

bool is_store(void* context) {
#if defined(__x86_64__)
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  return registers[REG_TRAPNO] == 14 && (registers[REG_ERR] & 2) != 0;  // 14: page fault; 2: it was a store
#else
  (void)context;
  return true;  // unknown; a store is assumed, so the eviction writes the granule even if it did not change
#endif
}

}  // namespace

void serve_fault(const void* address, bool store) noexcept {
  const uint64_t started = now_ns();
  const uint32_t page = table.page_of(address);
  if (!resolve.page(page, store)) {
    table.wall(page);
    return;
  }
  Cache& cache = caches.of(page, 0);
  const uint64_t took = now_ns() - started;
  {
    const Held held(cache.lock);
    ++cache.counters.faults;
    cache.counters.fault_ns += took;
  }
  if (after_fault != nullptr) after_fault();
}

void BusErrors::handle(int signal, siginfo_t* info, void* context) noexcept {
  // A fault of the arena: an absent page, or a temporarily protected one.
  const int expected = signal == SIGBUS ? int{BUS_ADRERR} : int{SEGV_ACCERR};
  if (info->si_code == expected && table.owns(info->si_addr)) {
    const uint32_t page = table.page_of(info->si_addr);
    if (signal == SIGSEGV || in_place.holds(page)) {
      if (in_place.explains(page)) return;
    } else {
      if (!core.ready()) die("a forked child touched memory of the arena, of which it has no copy", 0);
      serve_fault(info->si_addr, is_store(context));
      return;
    }
  }
  const int kept = errno;
  bus_errors.pass_on(signal, info, context);
  errno = kept;
}

int BusErrors::install(int signal) noexcept {
  struct sigaction action {};
  action.sa_sigaction = handle;
  // ONSTACK: if a program has an alternate stack, its normal stack may have no space. All signals are blocked, because
  // a handler of the program that touched the arena during a fault would wait for this thread.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  fill_mask(&action.sa_mask);
  const long result = set_action(signal, &action, &of(signal).previous);
  of(signal).started = result == 0;
  return static_cast<int>(-result);
}

int BusErrors::start(bool absent, bool copied) noexcept {
  int error = absent ? install(SIGBUS) : 0;
  if (error == 0 && copied) error = install(SIGSEGV);
  return error;
}

void BusErrors::stop() noexcept {
  for (const int signal : {SIGBUS, SIGSEGV}) {
    if (of(signal).started) set_action(signal, &of(signal).previous, nullptr);
    of(signal).started = false;
  }
}

void BusErrors::program_handler(int signal, const struct sigaction* set, struct sigaction* before) noexcept {
  const struct sigaction now = of(signal).previous;
  if (set != nullptr) of(signal).previous = *set;
  if (before != nullptr) *before = now;
}

void BusErrors::pass_on(int signal, siginfo_t* info, void* context) noexcept {
  const struct sigaction action = of(signal).previous;
  const bool from_kernel = info->si_code > 0;
  if ((action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN && !from_kernel) return;
  if ((action.sa_flags & SA_SIGINFO) == 0 && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
    struct sigaction none {};
    none.sa_handler = SIG_DFL;
    set_action(signal, &none, nullptr);  // the access is repeated, and ends the process as it would without the library
    if (!from_kernel) raw(SYS_tgkill, raw(SYS_getpid), raw(SYS_gettid), signal);
    return;
  }
  // SA_RESETHAND: the handler is called only once. If the handler returns, the next error ends the process.
  if ((static_cast<unsigned>(action.sa_flags) & SA_RESETHAND) != 0) of(signal).previous = {};
  // Calls the handler as the kernel would: the signals of the handler's mask are blocked in addition to the thread's
  // blocked signals. The signals of arena faults stay unblocked, because the handler may touch the arena.
  sigset_t mask = static_cast<ucontext_t*>(context)->uc_sigmask;
  for (int other = 1; other < 65; ++other) {
    const bool stays_open = handles(other) || other == SIGBUS || other == SIGSYS;
    if (!stays_open && sigismember(&action.sa_mask, other) == 1) sigaddset(&mask, other);
  }
  raw(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&mask), 0, 8);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
}

}  // namespace ringside::memory
