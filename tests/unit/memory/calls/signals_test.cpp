// SPDX-License-Identifier: BSD-3-Clause
// A trapped system call must have no visible effect on a program's signals, jumps and threads.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <ctime>
#include <functional>
#include <thread>

#include "tests/unit/memory/calls/absent.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside::testing {
namespace {

void handle(int signal, int flags, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

std::atomic<int> handled{0};
sigjmp_buf jump;
char* in_handler = nullptr;
int handler_pipe[2];

/// Starts a thread that sends signals to this thread until `enough` returns true, and that then runs `last`.
std::thread pester(const std::function<bool()>& enough, const std::function<void()>& last = [] {}) {
  return std::thread([target = pthread_self(), enough, last] {
    while (!enough()) {
      pthread_kill(target, SIGUSR1);
      sched_yield();
    }
    last();
  });
}

TEST(TrappedSignals, EndABlockedCallWithEintr) {
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  const Pipe pipe;
  handle(SIGUSR1, 0, [](int) { ++handled; });
  std::atomic<bool> done{false};
  std::thread other = pester([&] { return done.load(); });
  errno = 0;
  EXPECT_EQ(read(pipe.ends[0], memory, 100), -1);
  EXPECT_EQ(errno, EINTR);
  done = true;
  other.join();
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
}

TEST(TrappedSignals, WithRestartABlockedCallGoesOn) {
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  const Pipe pipe;
  handled = 0;
  handle(SIGUSR1, SA_RESTART, [](int) { ++handled; });
  std::thread other = pester([] { return handled > 20; }, [&] { EXPECT_EQ(write(pipe.ends[1], "abc", 3), 3); });
  EXPECT_EQ(read(pipe.ends[0], memory, 100), 3);
  other.join();
  EXPECT_EQ(std::memcmp(memory, "abc", 3), 0);
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
}

// The kernel restarts such a call with another number and the remaining time.
TEST(TrappedSignals, ACallOfAStoppedProcessGoesOnWhenTheProcessDoes) {
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  auto& time = *reinterpret_cast<timespec*>(memory);
  auto& none = *reinterpret_cast<pollfd*>(memory + 8192);
  const pid_t process = getpid(), other = fork();
  if (other == 0) {
    for (int i = 0; i < 20; ++i) {
      usleep(20'000);
      kill(process, SIGSTOP);
      usleep(5'000);
      kill(process, SIGCONT);
    }
    _exit(0);
  }
  for (int round = 0; round < 2; ++round) {
    time = {0, 200'000'000};
    none = {-1, 0, 0};
    ringside_memory_advise(memory, kMiB, RINGSIDE_MEMORY_DONT_NEED);
    timespec before{}, after{};
    clock_gettime(CLOCK_MONOTONIC, &before);
    if (round == 0) {
      EXPECT_EQ(nanosleep(&time, &time), 0);
    } else {
      EXPECT_EQ(poll(&none, 1, 200), 0);
    }
    clock_gettime(CLOCK_MONOTONIC, &after);
    const auto took_ms = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1'000'000;
    EXPECT_GE(took_ms, 199);
    EXPECT_LT(took_ms, 2000) << "not from the start each time";
  }
  waitpid(other, nullptr, 0);
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
}

TEST(TrappedSignals, AHandlerMayUseAbsentMemoryDuringABlockedCall) {
  START_ARENA(arena, trapping());
  char* const memory = absent(2 * kMiB);
  in_handler = memory + kMiB;
  const Pipe pipe;
  ASSERT_EQ(::pipe(handler_pipe), 0);
  handled = 0;
  handle(SIGUSR1, SA_RESTART, [](int) {
    const int kept = errno;
    if (write(handler_pipe[1], "handler", 7) == 7 && read(handler_pipe[0], in_handler, 100) == 7) ++handled;
    ringside_memory_owns(in_handler);
    errno = kept;
  });
  std::thread other = pester(
      [&] {
        ringside_memory_advise(memory, 2 * kMiB, RINGSIDE_MEMORY_DONT_NEED);
        return handled > 20;
      },
      [&] { EXPECT_EQ(write(pipe.ends[1], "abc", 3), 3); });
  EXPECT_EQ(read(pipe.ends[0], memory, 100), 3);
  other.join();
  EXPECT_EQ(std::memcmp(memory, "abc", 3), 0);
  EXPECT_EQ(std::memcmp(in_handler, "handler", 7), 0);
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
  close(handler_pipe[0]);
  close(handler_pipe[1]);
}

// Makes a call that never returns; a handler leaves the call with a jump.
void leave_by_jump(int from, char* to) {
  static std::atomic<bool> done;
  done = false;
  handle(SIGUSR1, 0, [](int) { siglongjmp(jump, 1); });
  static sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &only, nullptr);
  static std::thread other;
  other = pester([] { return done.load(); });
  if (sigsetjmp(jump, 1) == 0) {
    pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
    (void)!read(from, to, 100);
    ADD_FAILURE() << "nothing was written";
  }
  handle(SIGUSR1, SA_RESTART, [](int) {});
  done = true;
  other.join();
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
}

TEST(TrappedSignals, ALongJumpOutOfABlockedCallLeavesPinsUntilTheNextCall) {
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  const Pipe pipe;
  for (int round = 0; round < 50; ++round) leave_by_jump(pipe.ends[0], memory);
  ASSERT_EQ(write(pipe.ends[1], "abc", 3), 3);
  EXPECT_EQ(read(pipe.ends[0], memory, 100), 3);
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
}

TEST(TrappedSignals, ACancelledThreadLeavesABlockedCallAndItsPinsAreDropped) {
#if defined(__GLIBC_PREREQ) && __GLIBC_PREREQ(2, 41)
  GTEST_SKIP() << "from 2.41 on glibc cancels a thread only where its own instruction waits, not where ours does";
#endif
  START_ARENA(arena, trapping());
  static char* memory = nullptr;
  static int from = -1;
  static std::atomic<int> cleaned{0};
  memory = absent(kMiB);
  cleaned = 0;
  const Pipe pipe;
  from = pipe.ends[0];
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, nullptr,
                [](void*) -> void* {
                  pthread_cleanup_push([](void*) { ++cleaned; }, nullptr);
                  (void)!read(from, memory, 100);
                  pthread_cleanup_pop(0);
                  return nullptr;
                },
                nullptr),
            0);
  while (stats_now().pinned_bytes == 0) sched_yield();  // the thread is in the call, or about to make it
  pthread_cancel(thread);
  void* result = nullptr;
  pthread_join(thread, &result);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_EQ(cleaned, 1);
  EXPECT_EQ(ringside_memory_limit(3 * kMiB), 0) << ringside_memory_error();
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
}

TEST(TrappedSignals, AnAlternateStackInTheArenaStaysInDram) {
  NEED_RANDOM_ADDRESSES();
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  stack_t stack{}, before{};
  stack.ss_sp = memory;
  stack.ss_size = 128 * 1024;
  ASSERT_EQ(sigaltstack(&stack, &before), 0);
  handled = 0;
  handle(SIGUSR1, SA_ONSTACK, [](int) {
    char here = 0;
    if (ringside_memory_owns(&here) == 1 || kSanitized) ++handled;  // AddressSanitizer keeps variables elsewhere
  });
  ringside_memory_advise(memory, kMiB, RINGSIDE_MEMORY_DONT_NEED);
  EXPECT_EQ(stats_now().pinned_bytes, 128u * 1024);
  raise(SIGUSR1);
  EXPECT_EQ(handled, 1);
  ASSERT_EQ(sigaltstack(&before, nullptr), 0);
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
}

TEST(TrappedSignals, BlockedByTheProgramLeaveFaultsAndTrapsOpen) {
  NEED_RANDOM_ADDRESSES();
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  sigset_t all, before, now;
  sigfillset(&all);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &all, &before), 0);
  memory[0] = '/';
  memory[1] = '\0';
  ringside_memory_advise(memory, kMiB, RINGSIDE_MEMORY_DONT_NEED);
  EXPECT_EQ(access(memory, R_OK), 0);
  EXPECT_EQ(memory[8192], 1);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, &now), 0);
  EXPECT_EQ(sigismember(&now, SIGUSR1), 1);
  EXPECT_EQ(sigismember(&now, SIGBUS), 0);
  EXPECT_EQ(sigismember(&now, SIGSYS), 0);
}

TEST(TrappedSignals, AHandlerThatBlocksAllMayUseAbsentMemory) {
  NEED_RANDOM_ADDRESSES();
  START_ARENA(arena, trapping());
  in_handler = absent(kMiB);
  struct sigaction action {};
  sigfillset(&action.sa_mask);
  action.sa_handler = [](int) {
    in_handler[5000] = 0;
    if (access(in_handler + 5000, R_OK) == -1 && errno == ENOENT) ++handled;
  };
  sigaction(SIGUSR1, &action, nullptr);
  handled = 0;
  raise(SIGUSR1);
  EXPECT_EQ(handled, 1);
}

TEST(TrappedSignals, TheProgramSetsHandlersOfBusErrorsAndTrapsAndGetsThemBack) {
  NEED_RANDOM_ADDRESSES();
  struct sigaction first {
  }, second{}, seen{};
  first.sa_handler = [](int) { ++handled; };
  second.sa_handler = [](int) { handled += 10; };
  for (const int signal : {SIGBUS, SIGSYS}) {
    struct sigaction original {};
    sigaction(signal, &first, &original);
    {
      START_ARENA(arena, trapping());
      char* const memory = absent(kMiB);
      ASSERT_EQ(sigaction(signal, nullptr, &seen), 0);
      EXPECT_EQ(seen.sa_handler, first.sa_handler);
      ASSERT_EQ(sigaction(signal, &second, &seen), 0);
      EXPECT_EQ(seen.sa_handler, first.sa_handler);
      handled = 0;
      raise(signal);
      EXPECT_EQ(handled, 10);
      memory[0] = '/';
      memory[1] = '\0';
      EXPECT_EQ(access(memory, R_OK), 0);
      EXPECT_EQ(handled, 10) << "faults and traps of the arena are not the program's";
      ASSERT_EQ(sigaction(signal, &original, &seen), 0);
      EXPECT_EQ(seen.sa_handler, second.sa_handler);
    }
  }
}

#ifdef __x86_64__
// The interrupted function keeps its vector registers, its red zone and all other registers, except the register of the
// result, rcx and r11.
TEST(TrappedSignals, ATrappedCallChangesNoRegisterAndNoRedZone) {
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  const int zeros = open("/dev/zero", O_RDONLY);
  uint64_t vector[2] = {0x1122334455667788u, 0x99aabbccddeeff00u}, seen[2] = {}, zone = 0;
  long result = 0;
  long kept_di = zeros;
  long kept_si = static_cast<long>(reinterpret_cast<uintptr_t>(memory));
  long kept_d = 8192;
  register long r10 __asm__("r10") = 10;
  register long r8 __asm__("r8") = 8;
  register long r9 __asm__("r9") = 9;
  __asm__ volatile(
      "movdqu %[vector], %%xmm7\n"
      "movq %%rsp, %%rbx\n"
      "andq $-16, %%rsp\n"
      "movq $0x5a5a5a5a, -120(%%rsp)\n"
      "xorl %%eax, %%eax\n"
      "syscall\n"
      "movq -120(%%rsp), %%r12\n"
      "movq %%rbx, %%rsp\n"
      "movdqu %%xmm7, %[seen]\n"
      "movq %%r12, %[zone]\n"
      : "=a"(result), "+D"(kept_di), "+S"(kept_si), "+d"(kept_d), "+r"(r10), "+r"(r8), "+r"(r9), [seen] "=m"(seen),
        [zone] "=m"(zone)
      : [vector] "m"(vector)
      : "rcx", "r11", "rbx", "r12", "xmm7", "memory", "cc");
  const long kept[3] = {r10, r8, r9};
  EXPECT_EQ(result, 8192);
  EXPECT_EQ(kept_di, zeros);
  EXPECT_EQ(kept_si, static_cast<long>(reinterpret_cast<uintptr_t>(memory)));
  EXPECT_EQ(kept_d, 8192);
  EXPECT_EQ(kept[0], 10);
  EXPECT_EQ(kept[1], 8);
  EXPECT_EQ(kept[2], 9);
  EXPECT_EQ(seen[0], vector[0]);
  EXPECT_EQ(seen[1], vector[1]);
  EXPECT_EQ(zone, 0x5a5a5a5au);
  EXPECT_EQ(memory[8191], 0);
  close(zeros);
}
#endif

TEST(TrappedSignals, ErrnoIsTheCallsOwn) {
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  const int zeros = open("/dev/zero", O_RDONLY);
  errno = 1234;
  EXPECT_EQ(read(zeros, memory, 8192), 8192);
  EXPECT_EQ(errno, 1234);
  EXPECT_EQ(read(-1, memory, 8192), -1);
  EXPECT_EQ(errno, EBADF);
  close(zeros);
}

#ifdef __x86_64__
ucontext_t outside, inside;
char* coroutine_memory = nullptr;
ssize_t coroutine_read = 0;
int coroutine_from = -1;

// Makes a call with the stack pointer close to the lower end of a page. The page below has not been touched since its
// eviction.
void read_close_to_an_absent_page() {
  uint64_t here = 0;
  __asm__("movq %%rsp, %0" : "=r"(here));
  auto* const unused = static_cast<volatile char*>(__builtin_alloca(here % 4096 - 160));
  unused[0] = 0;
  coroutine_read = read(coroutine_from, coroutine_memory, 100000);
}

// The thread's stack is in the arena, and the handlers run on the alternate stack. The handler of SIGSYS leaves a frame
// on the thread's stack, and this store causes a fault within the handler.
TEST(TrappedSignals, ACallFromAStackInTheArenaWorksWithAnAlternateStack) {
  if (kSanitized) GTEST_SKIP() << "AddressSanitizer knows only the stacks of threads";
  START_ARENA(arena, trapping());
  static char other[256 * 1024];
  stack_t stack{}, before{};
  stack.ss_sp = other;
  stack.ss_size = sizeof other;
  ASSERT_EQ(sigaltstack(&stack, &before), 0);
  coroutine_memory = absent(2 * kMiB);
  char* const stack_memory = absent(kMiB);
  coroutine_from = open("/dev/zero", O_RDONLY);
  ASSERT_EQ(read(coroutine_from, stack_memory, 0), 0);  // so that the dynamic linker has already found `read`
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack_memory;
  inside.uc_stack.ss_size = kMiB;
  inside.uc_link = &outside;
  makecontext(&inside, read_close_to_an_absent_page, 0);
  const uint64_t faults = stats_now().faults;
  ASSERT_EQ(swapcontext(&outside, &inside), 0);
  EXPECT_EQ(coroutine_read, 100000);
  EXPECT_GE(stats_now().faults - faults, 1u) << "the page below";
  EXPECT_EQ(coroutine_memory[99999], 0);
  ASSERT_EQ(sigaltstack(&before, nullptr), 0);
  close(coroutine_from);
}
#endif

}  // namespace
}  // namespace ringside::testing
