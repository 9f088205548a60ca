// SPDX-License-Identifier: BSD-3-Clause
// Faults that do not belong to the library, faults in a child process, and faults of accesses that the kernel makes.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "tests/unit/memory/apart.hpp"
#include "tests/unit/memory/arena.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside::testing {
namespace {

/// Runs `act` in a child process. Returns the signal that ends the child, or 0 if no signal ends it.
int signal_of_child(const std::function<void()>& act) {
  return in_process([&] {
           signal(SIGSEGV, SIG_DFL);  // otherwise a sanitizer's handler would end the child
           act();
           return 0;
         })
      .signal;
}

sigjmp_buf back;
void* volatile segv_at = nullptr;

/// Stores a byte. Returns the address that SIGSEGV reported, or nullptr if there was no SIGSEGV.
void* segv_address(volatile char* at) {
  struct sigaction action {
  }, before{};
  action.sa_sigaction = [](int, siginfo_t* info, void*) {
    segv_at = info->si_addr;
    siglongjmp(back, 1);
  };
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  segv_at = nullptr;
  if (sigsetjmp(back, 1) == 0) *at = 1;
  sigaction(SIGSEGV, &before, nullptr);
  return segv_at;
}

/// Loads a byte, or raises SIGBUS if `at` is nullptr. A handler may jump back to this function.
void bus_error(const volatile char* at) {
  if (sigsetjmp(back, 1) != 0) return;
  if (at != nullptr) {
    (void)*at;
  } else {
    raise(SIGBUS);
  }
}

TEST(Faults, AChildThatTouchesTheArenaDiesBySegv) {
  START_ARENA(arena, small_options());
  auto* const memory = static_cast<volatile char*>(ringside_memory_alloc(8 * kMiB));
  memory[0] = 1;
  EXPECT_EQ(signal_of_child([&] { (void)memory[0]; }), SIGSEGV) << "resident in the parent";
  EXPECT_EQ(signal_of_child([&] { (void)memory[4 * kMiB]; }), SIGSEGV) << "absent in the parent";
  EXPECT_EQ(signal_of_child([&] {
              if (ringside_memory_alloc(10) != nullptr || errno != EINVAL) raise(SIGKILL);
            }),
            0)
      << "the interface says that there is no arena";
  EXPECT_EQ(memory[0], 1);
}

TEST(Faults, ATouchOfFreedMemoryIsSegvInEveryWayOfFaults) {
  for (const uint32_t faults : {1u, 2u}) {
    START_ARENA(arena, Way{faults}.in("/dev/shm"));
    auto* const memory = static_cast<char*>(ringside_memory_alloc(8 * kMiB));
    std::memset(memory, 1, 8 * kMiB);
    ringside_memory_free(memory);
    EXPECT_EQ(segv_address(memory + 5000), memory + 5000);
    auto* const again = static_cast<char*>(ringside_memory_alloc(8 * kMiB));
    ASSERT_EQ(again, memory) << "the lowest free addresses are used again";
    again[5000] = 2;
    EXPECT_EQ(again[5000], 2) << "the address is usable once it is allocated";
    ringside_memory_free(again);
  }
}

TEST(Faults, AProgramsHandlerGetsBusErrorsOutsideTheArena) {
  static volatile int calls = 0;
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) {
    calls = calls + 1;
    siglongjmp(back, 1);
  };
  sigaction(SIGBUS, &action, &before);
  {
    START_ARENA(arena, small_options());
    const int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    ASSERT_GE(file, 0);
    void* const beyond = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0);  // the mapped file is empty
    bus_error(static_cast<volatile char*>(beyond));
    EXPECT_EQ(calls, 1);
    bus_error(nullptr);
    EXPECT_EQ(calls, 2);
    munmap(beyond, 4096);
    close(file);
    auto* const memory = static_cast<char*>(ringside_memory_alloc(8 * kMiB));
    memory[0] = 1;
    EXPECT_EQ(calls, 2) << "faults of the arena are not the program's";
  }
  struct sigaction after {};
  sigaction(SIGBUS, &before, &after);
  EXPECT_EQ(after.sa_handler, action.sa_handler) << "stop gives the handler back";
}

TEST(Faults, TheKernelsOwnAccessesWorkInPinnedMemoryAndWithAHandlerThread) {
  for (const uint32_t faults : {1u, 2u}) {
    START_ARENA(arena, Way{faults}.in("/dev/shm"));
    auto* const memory = static_cast<char*>(ringside_memory_alloc(8 * kMiB));
    const int zeros = open("/dev/zero", O_RDONLY);
    memory[4096] = 1;
    ringside_memory_advise(memory, 8 * kMiB, RINGSIDE_MEMORY_DONT_NEED);
    if (faults == 1) {
      EXPECT_EQ(read(zeros, memory + 4096, 8192), -1);
      EXPECT_EQ(errno, EFAULT);
      ASSERT_EQ(ringside_memory_pin(memory + 4096, 8192, 1), 0) << ringside_memory_error();
    } else if (geteuid() != 0) {
      GTEST_SKIP() << "only root's handler thread surely serves the kernel's accesses";
    }
    EXPECT_EQ(read(zeros, memory + 4096, 8192), 8192);
    EXPECT_EQ(memory[4096], 0);
    if (faults == 1) ringside_memory_unpin(memory + 4096, 8192);
    close(zeros);
    ringside_memory_free(memory);
  }
}

TEST(Faults, ErrnoSurvivesAFault) {
  START_ARENA(arena, small_options());
  auto* const memory = static_cast<volatile char*>(ringside_memory_alloc(8 * kMiB));
  for (size_t i = 0; i < 8 * kMiB; i += 4096) {
    errno = 1234;
    memory[i] = 1;
    ASSERT_EQ(errno, 1234);
  }
}

TEST(Faults, ReadAheadServesAStreamAndStopsAtRandomAddresses) {
  START_ARENA(arena, small_options());
  auto* const memory = static_cast<char*>(ringside_memory_alloc(32 * kMiB));
  for (size_t i = 0; i < 32 * kMiB; i += 4096) memory[i] = 1;
  const auto stream = stats_now();
  EXPECT_LT(stream.faults, 8192u / 8) << "8192 pages come in many at a time";
  EXPECT_GT(stream.read_ahead_used, stream.read_ahead / 2);
  uint64_t random = 1;
  for (int i = 0; i < 5000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    ++memory[(random >> 33) % (32 * kMiB)];
  }
  EXPECT_LT(stats_now().read_ahead - stream.read_ahead, 1000u);
}

}  // namespace
}  // namespace ringside::testing
