// SPDX-License-Identifier: BSD-3-Clause
#include "memory/system/raw.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include <initializer_list>

#include "memory/system/line.hpp"

#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".hidden ringside_memory_raw, ringside_memory_raw_site, ringside_memory_raw_here, ringside_memory_raw_end\n"
    ".globl ringside_memory_raw, ringside_memory_raw_site, ringside_memory_raw_here, ringside_memory_raw_end\n"
    ".type ringside_memory_raw, @function\n"
    "ringside_memory_raw:\n"
    ".cfi_startproc\n"
    "jmpq *ringside_memory_raw_entry(%rip)\n"
    "ringside_memory_raw_here:\n"
    "movq %rdi, %rax\n"
    "movq %rsi, %rdi\n"
    "movq %rdx, %rsi\n"
    "movq %rcx, %rdx\n"
    "movq %r8, %r10\n"
    "movq %r9, %r8\n"
    "movq 8(%rsp), %r9\n"
    "syscall\n"
    "ringside_memory_raw_site:\n"
    "ret\n"
    "ringside_memory_raw_end:\n"
    ".cfi_endproc\n"
    ".size ringside_memory_raw, .-ringside_memory_raw\n"
    // The return address of a handler. Unwinders recognise exactly these instructions, if they begin one byte after a
    // `nop`.
    ".hidden ringside_memory_restore\n"
    ".globl ringside_memory_restore\n"
    "nop\n"
    ".p2align 4\n"
    "ringside_memory_restore:\n"
    "movq $15, %rax\n"
    "syscall\n");

extern "C" {
void ringside_memory_restore();
extern const char ringside_memory_raw_here[], ringside_memory_raw_site[], ringside_memory_raw_end[];
__attribute__((visibility("hidden"))) constinit const void* ringside_memory_raw_entry = ringside_memory_raw_here;
}
#endif

namespace ringside::memory {

#if defined(__x86_64__)
RawCode raw_code() noexcept {
  return {ringside_memory_raw_here, ringside_memory_raw_site, ringside_memory_raw_end};
}

void use_raw_code(const void* first) noexcept {
  ringside_memory_raw_entry = first;
}
#endif

int least_descriptor = 0;

long out_of_the_way(long descriptor) noexcept {
  if (least_descriptor == 0 || descriptor < 0) return descriptor;
  const long moved = raw(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, least_descriptor);
  if (moved < 0) return descriptor;
  raw(SYS_close, descriptor);
  return moved;
}

void yield_core() noexcept {
  raw(SYS_sched_yield);
}

void sleep_while(const void* word, uint32_t seen) noexcept {
  raw(SYS_futex, as_long(word), FUTEX_WAIT_PRIVATE, static_cast<long>(seen), 0);
}

void wake_all(const void* word) noexcept {
  raw(SYS_futex, as_long(word), FUTEX_WAKE_PRIVATE, INT32_MAX);
}

uint64_t now_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);  // uses the kernel's shared page: async-signal-safe, and no system call
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

void Lock::wait() noexcept {
  for (int round = 0; round < 100; ++round) {
    uint32_t free = 0;
    if (word_.compare_exchange_weak(free, 1, std::memory_order_acquire, std::memory_order_relaxed)) return;
    pause_core();
  }
  while (word_.exchange(2, std::memory_order_acquire) != 0) sleep_while(&word_, 2);
}

void fill_mask(sigset_t* mask) noexcept {
  __builtin_memset(mask, 0xff, sizeof *mask);
}

long set_action(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
#if defined(__x86_64__)
  struct KernelAction {
    void (*handler)(int, siginfo_t*, void*);
    uint64_t flags;
    void (*restorer)();
    uint64_t mask;
  } wanted{}, now{};
  constexpr uint64_t kHasRestorer = 0x04000000;
  if (action != nullptr) {
    wanted.handler = action->sa_sigaction;
    wanted.flags = static_cast<uint32_t>(action->sa_flags) | kHasRestorer;
    wanted.restorer = ringside_memory_restore;
    __builtin_memcpy(&wanted.mask, &action->sa_mask, sizeof wanted.mask);
  }
  const long result =
      raw(SYS_rt_sigaction, signal, as_long(action == nullptr ? nullptr : &wanted), as_long(&now), sizeof now.mask);
  if (result == 0 && before != nullptr) {
    *before = {};
    before->sa_sigaction = now.handler;
    before->sa_flags = static_cast<int>(now.flags & ~kHasRestorer);
    __builtin_memcpy(&before->sa_mask, &now.mask, sizeof now.mask);
  }
  return result;
#else
  return sigaction(signal, action, before) == 0 ? 0 : -errno;
#endif
}

SignalsBlocked::SignalsBlocked() noexcept {
  // SIGBUS is blocked, too: no code here may fault, so a fault is a bug and should end the process.
  // SIGSYS stays unblocked, because the C library may make a trapped call here (pthread_create).
  const uint64_t all = ~(uint64_t{1} << (SIGSYS - 1));
  raw(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&all), as_long(&before_), sizeof all);
}

SignalsBlocked::~SignalsBlocked() {
  raw(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&before_), 0, sizeof before_);
}

void* map_table(size_t bytes) noexcept {
  const long at = raw(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at < 0 && at > -4096) return nullptr;
  raw(SYS_madvise, at, static_cast<long>(bytes), MADV_NOHUGEPAGE);  // pages are populated singly, on use
  return reinterpret_cast<void*>(static_cast<uintptr_t>(at));
}

void* map_device_buffer(size_t bytes) noexcept {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  const long got = raw(SYS_mmap, 0, static_cast<long>(bytes + kHugePage), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got < 0 && got > -4096) return nullptr;
  const auto first = static_cast<uintptr_t>(got), at = (first + kHugePage - 1) & ~(kHugePage - 1);
  if (at > first) raw(SYS_munmap, got, static_cast<long>(at - first));
  raw(SYS_munmap, static_cast<long>(at + bytes), static_cast<long>(first + kHugePage - at));
  raw(SYS_madvise, static_cast<long>(at), static_cast<long>(bytes), MADV_HUGEPAGE);
  raw(SYS_madvise, static_cast<long>(at), static_cast<long>(bytes), MADV_DONTFORK);
  return reinterpret_cast<void*>(at);
}

void unmap_table(void* at, size_t bytes) noexcept {
  if (at != nullptr) raw(SYS_munmap, as_long(at), static_cast<long>(bytes));
}

void keep_movable(void* at, uint64_t bytes) noexcept {
  for (const long advice : {MADV_NOHUGEPAGE, MADV_DONTFORK, MADV_UNMERGEABLE})
    raw(SYS_madvise, as_long(at), static_cast<long>(bytes), advice);
}

void divide(void* at, uint64_t bytes, uint64_t stripe) noexcept {
  constexpr long kAdvice[] = {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL};
  for (uint64_t done = 0, number = 0; done < bytes; done += stripe, ++number) {
    const uint64_t part = bytes - done < stripe ? bytes - done : stripe;
    raw(SYS_madvise, as_long(static_cast<char*>(at) + done), static_cast<long>(part), kAdvice[number % 3]);
  }
}

// Several threads may detect a device failure at the same time, but only one of them prints the line.
void die(const char* what, long error) noexcept {
  static constinit std::atomic<uint32_t> speaker{0};
  uint32_t first = 0;
  if (!speaker.compare_exchange_strong(first, static_cast<uint32_t>(raw(SYS_gettid)))) {
    // The wait must have an end: the first thread may be this thread, which a handler interrupted; or it may belong to
    // a process that was forked in the meantime.
    while (first != static_cast<uint32_t>(raw(SYS_gettid)) && raw(SYS_tgkill, raw(SYS_getpid), first, 0) == 0)
      yield_core();
    for (;;) raw(SYS_exit_group, 134);
  }
  // No handler of the program may run here, because it might access data of this thread, or of a thread that waits in
  // the loop above.
  const uint64_t others = ~(uint64_t{1} << (SIGABRT - 1));
  raw(SYS_rt_sigprocmask, SIG_SETMASK, as_long(&others), 0, sizeof others);
  Line line;
  line << "ringside_memory: " << what;
  if (error != 0) line << " (" << error_text(error) << ")";
  line << "; the process ends, so that no data is lost silently\n";
  raw(SYS_write, 2, as_long(line.text()), static_cast<long>(line.length()));
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  set_action(SIGABRT, &standard, nullptr);
  raw(SYS_tgkill, raw(SYS_getpid), raw(SYS_gettid), SIGABRT);
  for (;;) raw(SYS_exit_group, 134);
}

}  // namespace ringside::memory
