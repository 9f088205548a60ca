// SPDX-License-Identifier: BSD-3-Clause
// The effects of the filter on child processes, on the programs that they start, on the synchronisation of threads in
// the arena, on refused calls, and on processes without the filter.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/unit/memory/calls/absent.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside::testing {
namespace {

const std::string own_path = std::filesystem::read_symlink("/proc/self/exe");

std::string output_of(const char* command) {
  FILE* const pipe = popen(command, "r");
  std::string text;
  char part[256];
  while (pipe != nullptr && fgets(part, sizeof part, pipe) != nullptr) text += part;
  return pclose(pipe) == 0 ? text : text + " failed";
}

TEST(FilteredPrograms, StartedByAProcessWithTheFilterMakeCallsWithStructures) {
  START_ARENA(arena, trapping());
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(output_of("/bin/sh -c 'echo through the shell'"), "through the shell\n");
  }
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "there is no /usr/bin/python3 to make such calls";
  EXPECT_EQ(output_of("/usr/bin/python3 -c 'import os, socket; os.writev(1, [b\"by \", b\"writev\\n\"]); "
                      "a, b = socket.socketpair(); a.sendmsg([b\"and sendmsg\\n\"]); os.write(1, b.recvmsg(100)[0])'"),
            "by writev\nand sendmsg\n");
}

// Each of three generations of processes starts an arena at the same addresses, with the filters of its ancestors.
TEST(FilteredPrograms, StartedByAProcessWithTheFilterMayHaveAnArena) {
  NEED_RANDOM_ADDRESSES();
  const char* const text = getenv("RINGSIDE_TEST_GENERATION");
  const int generation = text == nullptr ? 0 : atoi(text);
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  const int zeros = open("/dev/zero", O_RDONLY);
  const iovec segment{memory, 100000};
  ASSERT_EQ(readv(zeros, &segment, 1), 100000);
  EXPECT_EQ(memory[99999], 0);
  EXPECT_EQ(memory[100000], 1);
  ringside_memory_advise(memory, kMiB, RINGSIDE_MEMORY_DONT_NEED);
  EXPECT_EQ(read(zeros, memory, 200000), 200000);
  EXPECT_EQ(munmap(memory, 4096), -1);
  close(zeros);
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
  if (generation == 3) return;
  setenv("RINGSIDE_TEST_GENERATION", std::to_string(generation + 1).c_str(), 1);
  const std::string again =
      own_path + " --gtest_filter=FilteredPrograms.StartedByAProcessWithTheFilterMayHaveAnArena > /dev/null";
  EXPECT_EQ(output_of(again.c_str()), "");
  unsetenv("RINGSIDE_TEST_GENERATION");
}

TEST(FilteredPrograms, AChildOfForkWorksAndHasNoArena) {
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  const pid_t child = fork();
  if (child == 0) {
    char ordinary[100];
    const int zeros = open("/dev/zero", O_RDONLY);
    const bool good = read(zeros, ordinary, sizeof ordinary) == sizeof ordinary && read(zeros, memory, 100) == -1 &&
                      errno == EFAULT;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(FilteredPrograms, MayBeStartedWithAbsentArguments) {
  NEED_RANDOM_ADDRESSES();
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  std::strcpy(memory, "/bin/sh");
  std::strcpy(memory + 4096, "-c");
  std::strcpy(memory + 8192, "exit 7");
  auto** const arguments = reinterpret_cast<char**>(memory + 12288);
  for (int i = 0; i < 3; ++i) arguments[i] = memory + i * 4096;
  arguments[3] = nullptr;
  ringside_memory_advise(memory, kMiB, RINGSIDE_MEMORY_DONT_NEED);
  pid_t child = 0;
  ASSERT_EQ(posix_spawn(&child, "/bin/sh", nullptr, nullptr, arguments, environ), 0);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 7 << 8);
  ringside_memory_advise(memory, kMiB, RINGSIDE_MEMORY_DONT_NEED);
  char* const elsewhere[4] = {memory, memory + 4096, memory + 8192, nullptr};
  ASSERT_EQ(posix_spawn(&child, memory, nullptr, nullptr, elsewhere, environ), 0);
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 7 << 8);
  ringside_memory_advise(memory, kMiB, RINGSIDE_MEMORY_DONT_NEED);
  child = vfork();
  if (child == 0) {
    execveat(AT_FDCWD, memory, elsewhere, environ, 0);
    _exit(1);
  }
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 7 << 8);
  EXPECT_EQ(ringside_memory_limit(3 * kMiB), 0) << "the children's pins are dropped: " << ringside_memory_error();
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
}

TEST(FilteredPrograms, SynchroniseThreadsWithLocksInTheArena) {
  START_ARENA(arena, trapping());
  struct Shared {
    pthread_mutex_t mutex;
    char apart[8192];
    pthread_cond_t turned;
    char further[8192];
    int turn, count;
  };
  auto& shared = *reinterpret_cast<Shared*>(absent(kMiB));
  shared = {};
  pthread_mutex_init(&shared.mutex, nullptr);
  pthread_cond_init(&shared.turned, nullptr);
  std::thread threads[2];
  for (int mine = 0; mine < 2; ++mine) {
    threads[mine] = std::thread([&shared, mine] {
      for (int round = 0; round < 500; ++round) {
        pthread_mutex_lock(&shared.mutex);
        while (shared.turn != mine) pthread_cond_wait(&shared.turned, &shared.mutex);
        shared.turn = 1 - mine;
        ++shared.count;
        pthread_cond_signal(&shared.turned);
        pthread_mutex_unlock(&shared.mutex);
        if (round % 50 == 0) ringside_memory_advise(&shared, sizeof shared, RINGSIDE_MEMORY_DONT_NEED);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(shared.count, 1000);
}

TEST(FilteredPrograms, MayHaveAThreadWhoseStackIsPinnedArena) {
  NEED_RANDOM_ADDRESSES();
  if (kSanitized) GTEST_SKIP() << "AddressSanitizer clears the shadow of the whole stack, which takes minutes";
  START_ARENA(arena, trapping());
  char* const stack = absent(kMiB);
  ASSERT_EQ(ringside_memory_pin(stack, kMiB, 1), 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstack(&attributes, stack, kMiB), 0);
  pthread_t thread{};
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* text) -> void* {
                  char name[100] = "";  // on the stack in the arena
                  FILE* const file = fopen("/proc/self/comm", "r");
                  if (file != nullptr) {
                    *static_cast<bool*>(text) = fgets(name, sizeof name, file) != nullptr;
                    fclose(file);
                  }
                  return nullptr;
                },
                stack),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_TRUE(*reinterpret_cast<bool*>(stack));
  ringside_memory_unpin(stack, kMiB);
}

TEST(FilteredPrograms, CannotChangeTheMappingOfTheArena) {
  START_ARENA(arena, trapping());
  char* const memory = absent(kMiB);
  memory[0] = 5;
  const auto refused = [](long result) { return result == -1 && errno == EINVAL; };
  EXPECT_TRUE(refused(munmap(memory, 4096)));
  EXPECT_TRUE(refused(mprotect(memory, 4096, PROT_NONE)));
  EXPECT_TRUE(refused(madvise(memory, 4096, MADV_DONTNEED)));
  EXPECT_TRUE(refused(syscall(SYS_mlock, memory, 4096)));
  EXPECT_TRUE(refused(syscall(SYS_mlock2, memory, 4096, 0)));
  EXPECT_TRUE(refused(syscall(SYS_munlock, memory, 4096)));
  EXPECT_TRUE(refused(syscall(SYS_remap_file_pages, memory, 4096, 0, 0, 0)));
  EXPECT_TRUE(refused(syscall(SYS_shmat, 0, memory, 0)));
  EXPECT_TRUE(refused(syscall(462, memory, 4096, 0))) << "mseal";
  EXPECT_TRUE(refused(syscall(SYS_pkey_mprotect, memory, 4096, PROT_READ, -1)));
  EXPECT_EQ(mremap(memory, 4096, 8192, MREMAP_MAYMOVE), MAP_FAILED);
  EXPECT_EQ(mmap(memory, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), MAP_FAILED);
  EXPECT_EQ(mmap(memory, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0), MAP_FAILED);
  EXPECT_EQ(errno, EEXIST);
  void* const elsewhere = mmap(memory, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(elsewhere, MAP_FAILED) << "an address that is only a wish";
  munmap(elsewhere, 4096);
  EXPECT_EQ(mprotect(memory, 4096, PROT_READ | PROT_WRITE), 0) << "as it is";
  EXPECT_EQ(madvise(memory, 4096, MADV_SEQUENTIAL), 0);
  EXPECT_EQ(msync(memory, 4096, MS_SYNC), 0);
  EXPECT_EQ(memory[0], 5);
  EXPECT_EQ(memory[4096], 1);
}

TEST(FilteredPrograms, GetNoRingsOfIoUring) {
  START_ARENA(arena, trapping());
  char parameters[120] = {};
  EXPECT_EQ(syscall(SYS_io_uring_setup, 4, parameters), -1);
  EXPECT_EQ(errno, ENOSYS);
  EXPECT_EQ(syscall(SYS_io_uring_register, 3, 0, nullptr, 0), -1);
  EXPECT_EQ(errno, ENOSYS);
}

TEST(FilteredPrograms, KeepTheirHandlerOfOtherTraps) {
  NEED_RANDOM_ADDRESSES();
  static std::atomic<int> calls;
  calls = 0;
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { ++calls; };
  sigaction(SIGSYS, &action, &before);
  {
    START_ARENA(arena, trapping());
    raise(SIGSYS);
    EXPECT_EQ(calls, 1);
    char* const memory = absent(kMiB);
    EXPECT_EQ(access(std::strcpy(memory, "/"), R_OK), 0);
    EXPECT_EQ(calls, 1);
  }
}

TEST(FilteredPrograms, WithAHandlerThreadThatServesTheKernelNeedNoFilter) {
  START_ARENA(arena, trapping({RINGSIDE_MEMORY_FAULTS_THREAD}));
  char* const memory = absent(kMiB);
  const int zeros = open("/dev/zero", O_RDONLY);
  EXPECT_EQ(read(zeros, memory + 1000, 9000), 9000) << "with or without";
  EXPECT_EQ(memory[1000], 0);
  close(zeros);
}

TEST(FilteredPrograms, OfAnEarlierInterfaceStartAsBefore) {
  ringside_memory_options options = trapping();
  options.system_calls = 2;
  EXPECT_EQ(ringside_memory_start(&options), -1);
  EXPECT_EQ(errno, EINVAL);
  options.struct_bytes = offsetof(ringside_memory_options, system_calls);  // the earlier interface lacks the field
  START_ARENA(arena, options);
}

TEST(FilteredPrograms, MayStartTheArenaAgainAndAgain) {
  for (int round = 0; round < 20; ++round) {
    START_ARENA(arena, trapping());
    char* const memory = absent(kMiB);
    EXPECT_EQ(access(std::strcpy(memory, "/"), R_OK), 0);
  }
  char text[20] = "/";
  EXPECT_EQ(access(text, R_OK), 0);
  EXPECT_EQ(access(reinterpret_cast<char*>(uintptr_t{0x2000'0000'0000}), R_OK), -1) << "nothing lies there now";
  EXPECT_EQ(errno, EFAULT);
}

}  // namespace
}  // namespace ringside::testing
