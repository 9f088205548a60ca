// SPDX-License-Identifier: BSD-3-Clause
// The program's calls that concern signals. The library uses SIGBUS and SIGSYS: if one of them is blocked, a fault or a
// trap ends the process. The calls in which the C library blocks all signals (pthread_create, posix_spawn) are handled,
// too.
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "memory/calls/calls.hpp"
#include "memory/calls/transfer.hpp"
#include "memory/core.hpp"
#include "memory/faults/bus_errors.hpp"
#include "memory/system/raw.hpp"

#if defined(__x86_64__)

namespace ringside::memory {
namespace {

// The signals that must stay unblocked.
uint64_t ours() {
  constexpr uint64_t kAlways = uint64_t{1} << (SIGBUS - 1) | uint64_t{1} << (SIGSYS - 1);
  return kAlways | (bus_errors.handles(SIGSEGV) ? uint64_t{1} << (SIGSEGV - 1) : 0);
}

struct KernelAction {
  uint64_t handler, flags, restorer, mask;
};

bool see(Record* record, uint64_t address, void* to, uint64_t bytes) {
  return record != nullptr ? look(*record, address, to, bytes) : look_outside(address, to, bytes) == bytes;
}

// Writes to memory of the program. This memory was pinned together with the call's other pointers, so it is present.
bool change(uint64_t address, const void* from, uint64_t bytes) {
  if (!in_arena(address) || !core.ready()) return change_outside(address, from, bytes) == bytes;
  memcpy(reinterpret_cast<void*>(static_cast<uintptr_t>(address)), from, bytes);
  return true;
}

struct sigaction for_library(const KernelAction& action) {
  struct sigaction same {};
  memcpy(&same.sa_handler, &action.handler, sizeof action.handler);
  same.sa_flags = static_cast<int>(action.flags);
  memcpy(&same.sa_mask, &action.mask, sizeof action.mask);
  return same;
}

KernelAction for_program(const struct sigaction& action) {
  KernelAction same{};
  memcpy(&same.handler, &action.sa_handler, sizeof same.handler);
  same.flags = static_cast<uint32_t>(action.sa_flags);
  memcpy(&same.mask, &action.sa_mask, sizeof same.mask);
  return same;
}

// Executes sigaction(SIGBUS) or sigaction(SIGSYS) and returns its result. The call concerns the program's own handler,
// which the library calls.
long answer(int signal, Record* record, const uint64_t* arguments) {
  struct sigaction set {
  }, before{};
  KernelAction wanted{};
  if (arguments[1] != 0) {
    if (!see(record, arguments[1], &wanted, sizeof wanted)) return -EFAULT;
    set = for_library(wanted);
  }
  // A child of vfork shares this memory and may not change its parent's handler; its exec resets its own handlers.
  const bool shares = core.ready() && raw(SYS_getpid) != calls.process();
  if (!shares) {
    const struct sigaction* const now = arguments[1] != 0 ? &set : nullptr;
    if (bus_errors.handles(signal)) {
      bus_errors.program_handler(signal, now, &before);
    } else {
      calls.program_handler(now, &before);
    }
  }
  const KernelAction old = for_program(before);
  return arguments[2] == 0 || change(arguments[2], &old, sizeof old) ? 0 : -EFAULT;
}

}  // namespace

bool change_signal_call(const Call& call, Record* record, Frame& frame, uint64_t at, uint64_t* arguments,
                        long* result) noexcept {
  const uint64_t scratch = at + offsetof(Frame, scratch);
  if (call.action == Action::kSignalMask) {
    uint64_t mask = 0;
    if (arguments[1] == 0 || arguments[0] == SIG_UNBLOCK || !see(record, arguments[1], &mask, sizeof mask))
      return false;
    if ((mask & ours()) == 0) return false;
    frame.scratch[0] = mask & ~ours();
    arguments[1] = scratch;
    return false;
  }
  const auto signal = static_cast<int>(arguments[0]);
  if (signal == SIGSYS || bus_errors.handles(signal)) {
    *result = answer(signal, record, arguments);
    return true;
  }
  KernelAction wanted{};
  if (arguments[1] == 0 || !see(record, arguments[1], &wanted, sizeof wanted) || (wanted.mask & ours()) == 0)
    return false;
  wanted.mask &= ~ours();
  static_assert(sizeof wanted <= sizeof frame.scratch);
  memcpy(frame.scratch, &wanted, sizeof wanted);
  arguments[1] = scratch;
  return false;
}

}  // namespace ringside::memory

#endif
