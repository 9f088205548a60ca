// SPDX-License-Identifier: BSD-3-Clause
// The handler never makes the program's call itself. It leaves a frame on the thread's stack and returns into a stub
// (stubs.cpp), so the call runs outside any handler. A signal interrupts the call as usual; the call runs with the
// program's own signal mask and stack; longjmp and cancellation work; and a call that changes the signal mask takes
// effect.
#include "memory/calls/calls.hpp"

#include <errno.h>
#include <sys/ptrace.h>
#include <ucontext.h>
#include <unistd.h>

#include "memory/arena/granule_table.hpp"
#include "memory/calls/filter.hpp"
#include "memory/calls/records.hpp"
#include "memory/calls/sites.hpp"
#include "memory/calls/stubs.hpp"
#include "memory/calls/table.hpp"
#include "memory/calls/transfer.hpp"
#include "memory/core.hpp"
#include "memory/system/raw.hpp"

namespace ringside::memory {

constinit Calls calls;

#if defined(__x86_64__)

namespace {

constinit uint16_t place_in_table[kMostNumber] = {};  // for each number: 1 + its place in calls_table, or 0
constinit Stubs stub{};

constexpr int kFromSeccomp = 1;  // SYS_SECCOMP: older headers of the C library lack it

constexpr int kArguments[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};

const Call* call_of(long number) {
  if (number < 0 || number >= long{kMostNumber} || place_in_table[number] == 0) return nullptr;
  return &calls_table[place_in_table[number] - 1];
}

bool is_on_other_stack(const ucontext_t& context, uint64_t stack_pointer) {
  const auto low = static_cast<uint64_t>(as_long(context.uc_stack.ss_sp));
  return (context.uc_stack.ss_flags & SS_DISABLE) == 0 && stack_pointer > low &&
         stack_pointer - low <= context.uc_stack.ss_size;
}

constexpr unsigned long kFixedArena = 0x2000'0000'0000;  // as in arena/granule_table.cpp

struct sigaction action_of_traps() {
  struct sigaction action {};
  action.sa_sigaction = Calls::handle;
  // ONSTACK: as for SIGBUS. Only faults of the arena may interrupt the handler, because they bring in the memory that
  // the handler reads.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  fill_mask(&action.sa_mask);
  sigdelset(&action.sa_mask, SIGBUS);
  sigdelset(&action.sa_mask, SIGSEGV);
  return action;
}

// The address for a stub's frame. It is below the red zone of the interrupted function; and also below the handler's
// frames, if this handler runs on the same stack. `here`: the handler's stack pointer. 256: so that the frame is within
// one page.
uint64_t place_of_frame(const ucontext_t& context, uint64_t stack_pointer, uint64_t here) {
  constexpr uint64_t kRedZone = 128, kOfCallees = 1024, kAlignment = 256;
  const bool apart = is_on_other_stack(context, here) && !is_on_other_stack(context, stack_pointer);
  return ((apart ? stack_pointer - kRedZone : here - kOfCallees) - kFrameBytes) & ~(kAlignment - 1);
}

// Copies word by word, as the handler's last action: calling a function would overwrite memory below the stack pointer.
// (AddressSanitizer believes that this memory is a dead frame.)
__attribute__((noinline, no_sanitize("address"))) void leave(const Frame& frame, uint64_t at) {
  const auto* const from = reinterpret_cast<const uint64_t*>(&frame);
  auto* const to = reinterpret_cast<volatile uint64_t*>(static_cast<uintptr_t>(at));
  for (size_t i = 0; i < sizeof(Frame) / sizeof(uint64_t); ++i) to[i] = from[i];
}

// The process whose tracing begins at its exec, or 0. A flag is not enough: a child of vfork shares this variable with
// its parent's thread.
thread_local long traced_at_exec = 0;

// A failed exec ends in a trap (`pinned`), and each further attempt causes another trap. A traced child would stop at
// these traps, so tracing does not begin if the file cannot be executed.
void begin_trace(long number, const uint64_t* arguments) {
  if (traced_at_exec == 0 || traced_at_exec != raw(SYS_getpid)) return;
  if (number == SYS_execve && raw(SYS_access, static_cast<long>(arguments[0]), X_OK) != 0) return;
  traced_at_exec = 0;
  raw(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
}

// Whether the call changes mappings of the arena, not only its content.
bool is_mapping_of_ours(const Call& call, const uint64_t* arguments) {
  if (call.action != Action::kMapping || !core.ready()) return false;
  if (call.number == SYS_mmap && (arguments[3] & 0x100010) == 0) return false;  // no MAP_FIXED: only a hint
  for (const Pointer& pointer : call.pointers) {
    if (pointer.size != Size::kNone && in_arena(arguments[pointer.argument])) return true;
  }
  return false;
}

}  // namespace

long Calls::before_start(const char** why) noexcept {
  *why =
      "under an inherited filter of system calls, the library needs a page at 0x1fffffff0000, which is not available";
  if (handling_ || inherited_ || !has_filter()) return 0;
  inherited_ = is_trapped(kFixedArena);
  return inherited_ ? use_fixed_stubs() : 0;
}

// Whether an ancestor's filter traps a call with that address.
bool Calls::is_trapped(unsigned long address) noexcept {
  const struct sigaction action = action_of_traps();
  struct sigaction before {};
  uint64_t open = uint64_t{1} << (SIGSYS - 1), mask = 0;
  raw(SYS_rt_sigprocmask, SIG_UNBLOCK, as_long(&open), as_long(&mask), sizeof open);
  trapped_ = false;
  if (set_action(SIGSYS, &action, &before) != 0) return false;
  asking_ = true;
  const int kept = errno;
  (void)syscall(SYS_access, address, 0);  // called through the C library, whose instructions the filter traps
  errno = kept;
  asking_ = false;
  set_action(SIGSYS, &before, nullptr);
  raw(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&mask), 0, sizeof mask);
  return trapped_;
}

long Calls::start(bool wanted, const char** why) noexcept {
  // A filter inherited from a process with an arena also traps addresses in this process's arena.
  if (!wanted && !inherited_) return 0;
  *why = "no memory for the records of system calls";
  process_ = raw(SYS_getpid);
  long result = records.start();
  if (result < 0) return result;
  const auto first = static_cast<uint64_t>(as_long(table.address(0)));
  const bool covered = !handling_ && inherited_ && is_trapped(first) && is_trapped(first + table.bytes() - 1);
  if (!handling_) {
    stub = stubs();
    for (size_t i = 0; i < calls_in_table; ++i)
      place_in_table[calls_table[i].number] = static_cast<uint16_t>(i + 1);
    const struct sigaction action = action_of_traps();
    *why = "SIGSYS cannot be handled";
    if ((result = set_action(SIGSYS, &action, &previous_)) < 0) return result;
    handling_ = true;
    sites.find();
  }
  if (!wanted) return 0;
  if (first == first_ && first + table.bytes() <= end_) return 0;
  result = install_filter(first, first + table.bytes(), covered, why);
  if (result < 0) return result;
  traps_exec_ = result != kOnlyOfAncestors && sites.count() > 0;
  first_ = first;
  end_ = first + table.bytes();
  return 0;
}

bool Calls::trace_at_exec() noexcept {
  if (traps_exec_) traced_at_exec = raw(SYS_getpid);
  return traps_exec_;
}

void Calls::stop() noexcept {
  records.stop();
}

void Calls::adopt() noexcept {
  process_ = raw(SYS_getpid);
}

void Calls::drop_ended() noexcept {
  records.sweep();
}

void Calls::handle(int signal, siginfo_t* info, void* context) noexcept {
  if (info->si_code != kFromSeccomp || static_cast<uint32_t>(info->si_errno) != kTrapMark) {
    const int kept = errno;
    calls.pass_on(signal, info, context);
    errno = kept;
    return;
  }
  if (calls.asking_) {
    calls.trapped_ = true;
    static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = -EFAULT;
    return;
  }
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (static_cast<uint64_t>(registers[REG_RIP]) == stub.finish_site) {
    finish(context);
  } else {
    calls.begin(context);
  }
}

[[gnu::noinline]] void Calls::begin(void* context) noexcept {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto stack_pointer = static_cast<uint64_t>(registers[REG_RSP]);
  const long number = registers[REG_RAX];
  uint64_t arguments[6];
  for (int i = 0; i < 6; ++i) arguments[i] = static_cast<uint64_t>(registers[kArguments[i]]);
  const Call* const call = call_of(number);
  if (call != nullptr && is_mapping_of_ours(*call, arguments)) {
    registers[REG_RAX] = answer_mapping(number, arguments);
    return;
  }
  uint64_t here = 0;
  __asm__("movq %%rsp, %0" : "=r"(here));
  const uint64_t at = place_of_frame(*static_cast<ucontext_t*>(context), stack_pointer, here);
  Frame frame{};
  frame.back = static_cast<uint64_t>(registers[REG_RIP]);
  frame.stack_pointer = stack_pointer;
  for (int i = 0; i < 6; ++i) frame.arguments[i] = arguments[i];
  bool pinned = false;
  const bool on_signals =
      call != nullptr && (call->action == Action::kSignalMask || call->action == Action::kSignalAction);
  long answered = 0;
  if (on_signals && !core.ready() && change_signal_call(*call, nullptr, frame, at, arguments, &answered)) {
    registers[REG_RAX] = answered;
    return;
  }
  if (call != nullptr && core.ready()) {
    const bool on_other_stack = is_on_other_stack(*static_cast<ucontext_t*>(context), stack_pointer);
    Record* const record = records.take(stack_pointer, on_other_stack);
    if (record == nullptr) {
      registers[REG_RAX] = -ENOMEM;
      return;
    }
    record->frame = at;
    record->number = number;
    record->call = call;
    frame.record = records.place_of(record);
    const long result = prepare(*record, frame, arguments);
    const bool is_answered =
        result == 0 && on_signals && change_signal_call(*call, record, frame, at, arguments, &answered);
    if (is_answered || result < 0) {
      record->unpin();
      records.give(record);
      registers[REG_RAX] = is_answered ? answered : result;
      return;
    }
    pinned = record->ranges > 0 || record->in_pieces || record->stack_old_bytes > 0;
    if (!pinned) records.give(record);
  }
  if (call != nullptr && call->action == Action::kExecute) begin_trace(number, arguments);
  for (int i = 0; i < 6; ++i) registers[kArguments[i]] = static_cast<greg_t>(arguments[i]);
  registers[REG_RSP] = static_cast<greg_t>(at);
  registers[REG_RIP] = static_cast<greg_t>(pinned ? stub.pinned : stub.plain);
  leave(frame, at);
}

void Calls::finish(void* context) noexcept {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto at = static_cast<uint64_t>(registers[REG_RSP]);
  auto& frame = *reinterpret_cast<Frame*>(static_cast<uintptr_t>(at));
  auto result = static_cast<long>(frame.result);
  Record* const record = core.ready() ? records.at(frame.record) : nullptr;
  // This part is skipped in a child of fork: if a handler forked during the call, the child also returns here.
  if (record != nullptr && record->taken.load() == 1 && record->frame == at &&
      record->thread == static_cast<int32_t>(raw(SYS_gettid))) {
    uint64_t arguments[6];
    for (int i = 0; i < 6; ++i) arguments[i] = frame.arguments[i];
    if (go_on(*record, frame, arguments, &result)) {
      for (int i = 0; i < 6; ++i) registers[kArguments[i]] = static_cast<greg_t>(arguments[i]);
      registers[REG_RAX] = record->number;
      registers[REG_RIP] = static_cast<greg_t>(stub.pinned);
      return;
    }
    if (record->call->action == Action::kSignalStack && result == 0) end_signal_stack(*record);
    record->unpin();
    records.give(record);
  }
  for (int i = 0; i < 6; ++i) registers[kArguments[i]] = static_cast<greg_t>(frame.arguments[i]);
  registers[REG_RAX] = result;
  registers[REG_RSP] = static_cast<greg_t>(frame.stack_pointer);
  registers[REG_RIP] = static_cast<greg_t>(frame.back);
}

void Calls::pass_on(int signal, siginfo_t* info, void* context) noexcept {
  const struct sigaction action = previous_;
  if ((action.sa_flags & SA_SIGINFO) == 0 && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
    if (action.sa_handler == SIG_IGN && info->si_code <= 0) return;
    struct sigaction none {};
    none.sa_handler = SIG_DFL;
    set_action(signal, &none, nullptr);
    raw(SYS_tgkill, raw(SYS_getpid), raw(SYS_gettid), signal);
    return;
  }
  // SA_RESETHAND: the handler is called only once. If the handler returns, the next error ends the process.
  if ((static_cast<unsigned>(action.sa_flags) & SA_RESETHAND) != 0) previous_ = {};
  // Calls the handler as the kernel would: the signals of the handler's mask are blocked in addition to the thread's
  // blocked signals.
  sigset_t mask = static_cast<ucontext_t*>(context)->uc_sigmask;
  for (int other = 1; other < 65; ++other) {
    if (other != SIGBUS && other != SIGSYS && sigismember(&action.sa_mask, other) == 1) sigaddset(&mask, other);
  }
  raw(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&mask), 0, 8);
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
}

void Calls::program_handler(const struct sigaction* set, struct sigaction* before) noexcept {
  const struct sigaction now = previous_;
  if (set != nullptr) previous_ = *set;
  if (before != nullptr) *before = now;
}

#else

long Calls::before_start(const char**) noexcept {
  return 0;
}
long Calls::start(bool wanted, const char** why) noexcept {
  if (!wanted) return 0;
  *why = "system_calls is 1, expected 0: system calls on absent memory are supported on x86-64 only";
  return -ENOSYS;
}
void Calls::stop() noexcept {}
bool Calls::trace_at_exec() noexcept {
  return false;
}
void Calls::adopt() noexcept {}
void Calls::drop_ended() noexcept {}

#endif

}  // namespace ringside::memory
