// SPDX-License-Identifier: BSD-3-Clause
// Signals, cancelled threads and children of a program into which the library is preloaded (interposed_test.py starts
// the program).
#include <aio.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "tests/memory_run/status_of.hpp"

extern "C" int __ppoll_chk(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);

namespace ringside::testing {
namespace {

constexpr size_t kLarge = size_t{8} << 20, kStep = 4096;  // twice the DRAM; a page

/// Memory that is twice as large as the DRAM; the first byte of every page is `byte`.
char* large_memory(char byte) {
  auto* const memory = static_cast<char*>(std::malloc(kLarge));
  EXPECT_NE(memory, nullptr);
  for (size_t i = 0; i < kLarge; i += kStep) memory[i] = byte;
  return memory;
}
bool all_pages_hold(const char* memory, char byte) {
  for (size_t i = 0; i < kLarge; i += kStep) {
    if (memory[i] != byte) return false;
  }
  return true;
}
void touch_byte(char* at) {
  volatile char& byte = *at;
  byte = static_cast<char>(byte + 1);
}
/// Touches all pages, so that other memory leaves the DRAM.
void touch_all(char* memory) {
  for (size_t i = 0; i < kLarge; i += kStep) touch_byte(memory + i);
}

char* in_handlers = nullptr;
sigjmp_buf out_of_handler;

TEST(InterposedSignals, TheProgramsHandlerOfBusErrorsMayTouchTheArena) {
  in_handlers = large_memory(1);
  const int file = open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  auto* const beyond = static_cast<volatile char*>(mmap(nullptr, kStep, PROT_READ, MAP_SHARED, file, 0));
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) {
    touch_all(in_handlers);
    siglongjmp(out_of_handler, 1);
  };
  ASSERT_EQ(sigaction(SIGBUS, &action, &before), 0);
  if (sigsetjmp(out_of_handler, 1) == 0) (void)*beyond;
  EXPECT_TRUE(all_pages_hold(in_handlers, 2));
  sigaction(SIGBUS, &before, nullptr);
  munmap(const_cast<char*>(beyond), kStep);
  close(file);
  std::free(in_handlers);
}

// A handler may report the first error and return: the second error must then end the process.
TEST(InterposedSignals, AHandlerThatIsToBeCalledOnceIsCalledOnce) {
  for (const int number : {SIGBUS, SIGSYS}) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      static volatile sig_atomic_t calls;
      struct sigaction action {};
      action.sa_handler = [](int) {
        calls = calls + 1;
        if (calls > 1) _exit(1);
      };
      action.sa_flags = static_cast<int>(SA_RESETHAND);
      sigaction(number, &action, nullptr);
      raise(number);
      if (calls == 1) raise(number);
      _exit(2);
    }
    EXPECT_EQ(status_of(child), -number);
  }
}

TEST(InterposedSignals, TheStructuresOfSigactionMayBeAbsent) {
  char* const memory = large_memory(0);
  auto* const wanted = reinterpret_cast<struct sigaction*>(memory + 100);
  auto* const before = reinterpret_cast<struct sigaction*>(memory + 3 * kStep);
  for (const int number : {SIGBUS, SIGSYS}) {
    wanted->sa_handler = SIG_DFL;
    for (size_t i = 4 * kStep; i < kLarge; i += kStep) ++memory[i];
    ASSERT_EQ(sigaction(number, wanted, before), 0);
    EXPECT_EQ(before->sa_handler, SIG_DFL);
  }
  std::free(memory);
}

// During these calls, all other signals are blocked.
TEST(InterposedSignals, AHandlerThatInterruptsPpollOrEpollPwaitMayTouchTheArena) {
  in_handlers = large_memory(0);
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { touch_all(in_handlers); };
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  sigset_t only, old, others;
  sigemptyset(&only);
  sigaddset(&only, SIGUSR1);
  sigfillset(&others);
  sigdelset(&others, SIGUSR1);
  const timespec time{10, 0};
  const int poll_of_none = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  pollfd none{-1, 0, 0};
  for (int which = 0; which < 4; ++which) {
    pthread_sigmask(SIG_BLOCK, &only, &old);
    raise(SIGUSR1);
    int result = 0;
    switch (which) {
      case 0: result = ppoll(&none, 1, &time, &others); break;
      case 1: result = __ppoll_chk(&none, 1, &time, &others, sizeof none); break;
      case 2: result = epoll_pwait(poll_of_none, &event, 1, 10000, &others); break;
#if __GLIBC_PREREQ(2, 35)
      case 3: result = epoll_pwait2(poll_of_none, &event, 1, &time, &others); break;
#endif
      default: continue;
    }
    EXPECT_EQ(result, -1) << which;
    EXPECT_EQ(errno, EINTR) << which;
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
    EXPECT_TRUE(all_pages_hold(in_handlers, static_cast<char>(which + 1)));
  }
  sigaction(SIGUSR1, &before, nullptr);
  close(poll_of_none);
  std::free(in_handlers);
}

// For aio_read, the C library starts a thread in which all signals are blocked.
TEST(InterposedSignals, AioReadOfTheCLibraryReachesAbsentMemory) {
  char* const memory = large_memory(1);
  const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  auto* const block = reinterpret_cast<aiocb*>(memory + 5 * kStep);
  std::memset(block, 0, sizeof *block);
  block->aio_fildes = zeros;
  block->aio_buf = memory + 10 * kStep;
  block->aio_nbytes = 10 * kStep;
  for (size_t i = 100 * kStep; i < kLarge; i += kStep) ++memory[i];
  ASSERT_EQ(aio_read(block), 0);
  const aiocb* const waits[1] = {block};
  while (aio_suspend(waits, 1, nullptr) != 0 && errno == EINTR) {
  }
  EXPECT_EQ(aio_error(block), 0);
  EXPECT_EQ(aio_return(block), static_cast<ssize_t>(10 * kStep));
  EXPECT_EQ(memory[9 * kStep], 1);
  EXPECT_EQ(memory[19 * kStep], 0);
  EXPECT_EQ(memory[20 * kStep], 1);
  close(zeros);
  std::free(memory);
}

std::atomic<unsigned> touched{0};
std::atomic<bool> enough{false};

void* touch_until_enough(void* /*argument*/) {
  while (!enough) touch_all(in_handlers);
  return nullptr;
}

// For a change of user or group ids, the C library sends a signal to every thread.
TEST(InterposedSignals, AChangeOfIdsReachesThreadsAmongTheirFaults) {
  in_handlers = large_memory(0);
  enough = false;
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, nullptr, touch_until_enough, nullptr), 0);
  for (int round = 0; round < 200; ++round) {
    ASSERT_EQ(setgid(getgid()), 0);
    touch_byte(in_handlers + static_cast<size_t>(round) * 10 * kStep);
  }
  enough = true;
  pthread_join(thread, nullptr);
  std::free(in_handlers);
}

#ifdef __x86_64__
TEST(InterposedSignals, AFilterOfTheProgramsOwnTrapsIntoItsHandler) {
  in_handlers = large_memory(0);
  const pid_t child = fork();
  if (child == 0) {
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t*, void* context) {
      touch_all(in_handlers);
      static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = 4242;
    };
    sigaction(SIGSYS, &action, nullptr);
    sock_filter code[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                          {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_getppid},
                          {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP | 7},
                          {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    const sock_fprog program{4, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) _exit(1);
    const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    const bool right = getppid() == 4242 && all_pages_hold(in_handlers, 1) &&
                       read(zeros, in_handlers + 100, 10 * kStep) == static_cast<ssize_t>(10 * kStep);
    _exit(right ? 7 : 1);
  }
  EXPECT_EQ(status_of(child), 7);
  std::free(in_handlers);
}
#endif

TEST(InterposedSignals, AThreadIsCancelledBetweenItsFaults) {
  in_handlers = large_memory(0);
  for (unsigned round = 0; round < 100; ++round) {
    const unsigned before = touched;
    pthread_t thread{};
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void*) -> void* {
                    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
                    for (;;) {
                      for (size_t i = 0; i < kLarge; i += kStep) {
                        touch_byte(in_handlers + i);
                        ++touched;
                      }
                    }
                  },
                  nullptr),
              0);
    while (touched - before < 20 + round) sched_yield();
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    touch_all(in_handlers);  // would wait for ever if the thread had left a granule partly loaded
  }
  std::free(in_handlers);
}

TEST(InterposedChildren, GetSignalsOfTheirGroupOnceTheyHaveTheirArena) {
  in_handlers = large_memory(0);
  const pid_t group = fork();
  if (group == 0) {  // in a separate process group: the test's other processes get no signal
    setpgid(0, 0);
    struct sigaction action {};
    action.sa_handler = [](int) { touch_byte(in_handlers + static_cast<size_t>(std::rand()) % kLarge); };
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
    const pid_t parent = getpid(), sender = fork();
    if (sender == 0) {
      signal(SIGUSR1, SIG_IGN);
      while (kill(0, SIGUSR1) == 0 && getppid() == parent) usleep(200);
      _exit(0);
    }
    int wrong = 0;
    for (int round = 0; round < 20; ++round) {
      const pid_t child = fork();
      if (child == 0) _exit(7);
      if (status_of(child) != 7) ++wrong;
    }
    kill(sender, SIGKILL);
    status_of(sender);
    _exit(wrong == 0 ? 7 : 1);
  }
  EXPECT_EQ(status_of(group), 7);
  std::free(in_handlers);
}

TEST(InterposedChildren, OfTwoThreadsThatForkAtATimeAreWhole) {
  in_handlers = large_memory(5);
  static std::atomic<int> wrong;
  wrong = 0;
  const auto fork_some = [](void*) -> void* {
    for (int round = 0; round < 5; ++round) {
      const pid_t child = fork();
      if (child == 0) {
        const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        const bool right = all_pages_hold(in_handlers, 5) &&
                           read(zeros, in_handlers, 10 * kStep) == static_cast<ssize_t>(10 * kStep) &&
                           in_handlers[9 * kStep] == 0 && in_handlers[10 * kStep] == 5;
        _exit(right ? 7 : 1);
      }
      if (status_of(child) != 7) ++wrong;
    }
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, nullptr, fork_some, nullptr), 0);
  fork_some(nullptr);
  pthread_join(thread, nullptr);
  EXPECT_EQ(wrong, 0);
  std::free(in_handlers);
}

TEST(InterposedChildren, EndAndCallExecWhileTheirThreadsHaveFaults) {
  in_handlers = large_memory(0);
  enough = false;
  for (int round = 0; round < 10; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      pthread_t threads[2];
      for (pthread_t& thread : threads) pthread_create(&thread, nullptr, touch_until_enough, nullptr);
      usleep(2000);
      if (round % 2 == 0) std::exit(7);
      execl("/bin/sh", "sh", "-c", "exit 7", static_cast<char*>(nullptr));
    }
    EXPECT_EQ(status_of(child), 7);
  }
  std::free(in_handlers);
}

TEST(InterposedChildren, SetTheirOwnHandlerOfBusErrorsInEveryWay) {
  char* const memory = large_memory(1);
  const pid_t child = fork();
  if (child == 0) {
    ++memory[kLarge / 2];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    sigset(SIGBUS, [](int) { _exit(7); });  // the C library's own call of sigaction is not interposed
#pragma GCC diagnostic pop
    raise(SIGBUS);
    _exit(1);
  }
  EXPECT_EQ(status_of(child), 7);
  std::free(memory);
}

// gdb starts a program in this way. Until the exec, gdb sleeps in vfork and cannot continue its child after a trap.
pid_t traced_by_vfork(const char* program) {
  const pid_t child = vfork();
  if (child != 0) return child;
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (const int signal : {SIGUSR1, SIGPIPE, SIGSYS}) sigaction(signal, &standard, nullptr);
  execl(program, program, static_cast<char*>(nullptr));
  _exit(7);
}

TEST(InterposedChildren, OfVforkAreTracedFromTheirExecOn) {
  const pid_t child = traced_by_vfork("/bin/true");
  ASSERT_GT(child, 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSTOPPED(status)) << status;
  EXPECT_EQ(WSTOPSIG(status), SIGTRAP);
  for (long passed = 0; WIFSTOPPED(status);) {  // passes the program's own traps and faults on to the program
    ASSERT_EQ(ptrace(PTRACE_CONT, child, nullptr, passed), 0);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    passed = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(InterposedChildren, OfVforkWhoseExecFailsEndAsUsual) {
  EXPECT_EQ(status_of(traced_by_vfork("/no/such/program")), 7);
}

// With --fork none, children have no arena; neither do children whose copy did not fit into far memory.
TEST(InterposedChildren, WithoutAnArenaChangeNothingOfTheirParents) {
  char* const memory = large_memory(3);
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));  // the handlers of fork do not run
  if (child == 0) {
    std::free(memory);
    _exit(7);
  }
  EXPECT_EQ(status_of(child), 7);
  EXPECT_TRUE(all_pages_hold(memory, 3));
  const auto other = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (other == 0) {
    const void* const moved = std::realloc(memory, kLarge / 2);
    _exit(moved == nullptr ? 1 : 2);
  }
  EXPECT_EQ(status_of(other), -SIGSEGV) << "realloc has no content to give";
  EXPECT_TRUE(all_pages_hold(memory, 3));
  std::free(memory);
}

}  // namespace
}  // namespace ringside::testing
