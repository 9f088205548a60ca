// SPDX-License-Identifier: BSD-3-Clause
// A program with the preloaded library that calls every function that the library interposes. CMakeLists.txt sets the
// environment: 4 MiB of DRAM, 64 MiB of far memory, allocations of 64 KiB or more.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "tests/memory_run/status_of.hpp"

namespace ringside::testing {
namespace {

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB, kPage = 4096;

bool in_arena(const void* memory) {
  static const auto owns = reinterpret_cast<int (*)(const void*)>(dlsym(RTLD_DEFAULT, "ringside_memory_owns"));
  return owns != nullptr && owns(memory) != 0;
}

// Returns the pointer in such a way that the compiler can neither remove nor predict operations on it.
template <class Pointer>
Pointer opaque(Pointer pointer) {
  asm volatile("" : "+r"(pointer) : : "memory");
  return pointer;
}

void fill(void* memory, std::size_t bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes; i += 64)
    static_cast<unsigned char*>(memory)[i] = static_cast<unsigned char>(i / 64 * seed);
}
bool holds(const void* memory, std::size_t bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes; i += 64) {
    if (static_cast<const unsigned char*>(memory)[i] != static_cast<unsigned char>(i / 64 * seed)) return false;
  }
  return true;
}
bool is_zero(const void* memory, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (static_cast<const char*>(memory)[i] != 0) return false;
  }
  return true;
}
/// Touches more memory than fits into the DRAM, so that all memory that was touched before has left the DRAM.
void sweep() {
  auto* const memory = static_cast<char*>(std::malloc(12 * kMiB));
  ASSERT_NE(memory, nullptr);
  for (std::size_t i = 0; i < 12 * kMiB; i += kPage) opaque(memory)[i] = 1;
  std::free(memory);
}
/// Memory from malloc that contains a pattern until a test overwrites it.
class Filled {
 public:
  Filled(std::size_t bytes, unsigned seed) : bytes_(bytes), seed_(seed), memory_(std::malloc(bytes)) {
    fill(memory_, bytes, seed);
  }
  ~Filled() { std::free(memory_); }
  Filled(const Filled&) = delete;
  Filled& operator=(const Filled&) = delete;

  void fill_again(unsigned seed) { fill(memory_, bytes_, seed_ = seed); }
  bool is_whole() const { return holds(memory_, bytes_, seed_); }

 private:
  std::size_t bytes_;
  unsigned seed_;
  void* memory_;
};

void* map(std::size_t bytes, int flags = 0, int protection = PROT_READ | PROT_WRITE) {
  return mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

TEST(Interposed, LargeAllocationsAreInTheArenaAndSmallOnesAreNot) {
  for (const std::size_t bytes : {std::size_t{1}, kKiB, 64 * kKiB - 1, 64 * kKiB, kMiB, 9 * kMiB}) {
    void* const memory = opaque(std::malloc(bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(in_arena(memory), bytes >= 64 * kKiB) << bytes;
    EXPECT_GE(malloc_usable_size(memory), bytes);
    fill(memory, bytes, 3);
    sweep();
    EXPECT_TRUE(holds(memory, bytes, 3)) << bytes;
    std::free(memory);
  }
}

TEST(Interposed, CallocReadsAsZerosInMemoryThatWasUsedBefore) {
  for (int round = 0; round < 3; ++round) {
    void* const memory = opaque(std::calloc(3, kMiB));
    ASSERT_TRUE(in_arena(memory));
    EXPECT_TRUE(is_zero(memory, 3 * kMiB));
    std::memset(memory, 7, 3 * kMiB);
    std::free(memory);
  }
  errno = 0;
  EXPECT_EQ(opaque(std::calloc(opaque(std::size_t{1} << 40), std::size_t{1} << 30)), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

TEST(Interposed, ReallocKeepsTheContentAcrossEverySize) {
  unsigned char* memory = nullptr;
  std::size_t had = 0;
  for (const std::size_t bytes : {kKiB, 100 * kKiB, 5 * kMiB, 7 * kMiB, 200 * kKiB, 10 * kKiB, 3 * kMiB, kKiB}) {
    memory = static_cast<unsigned char*>(std::realloc(memory, bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(in_arena(memory), bytes >= 64 * kKiB);
    EXPECT_TRUE(holds(memory, std::min(had, bytes), 5)) << had << " to " << bytes;
    fill(memory, bytes, 5);
    had = bytes;
  }
  EXPECT_EQ(opaque(std::realloc(memory, 0)), nullptr);
  errno = 0;
  EXPECT_EQ(opaque(reallocarray(nullptr, opaque(std::size_t{1} << 40), std::size_t{1} << 30)), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  memory = static_cast<unsigned char*>(reallocarray(nullptr, 3, kMiB));
  EXPECT_TRUE(in_arena(memory));
  std::free(memory);
}

TEST(Interposed, EveryAlignmentIsGiven) {
  for (std::size_t alignment = sizeof(void*); alignment <= 4 * kMiB; alignment *= 2) {
    for (const std::size_t bytes : {kKiB, 2 * kMiB}) {
      void* a = nullptr;
      ASSERT_EQ(posix_memalign(&a, alignment, bytes), 0);
      void* const b = opaque(aligned_alloc(alignment, bytes));
      void* const c = opaque(memalign(alignment, bytes));
      for (void* const memory : {a, b, c}) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0u);
        EXPECT_EQ(in_arena(memory), bytes >= 64 * kKiB);
        std::free(memory);
      }
    }
  }
  void* memory = nullptr;
  EXPECT_EQ(posix_memalign(&memory, opaque(std::size_t{24}), kMiB), EINVAL);
  memory = opaque(valloc(kMiB + 1));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % kPage, 0u);
  std::free(memory);
  memory = opaque(pvalloc(kMiB + 1));
  EXPECT_EQ(malloc_usable_size(memory) % kPage, 0u);
  std::free(memory);
}

TEST(Interposed, NewAndDeleteAreServedToo) {
  struct alignas(4096) Wide {
    char bytes[256 * kKiB];
  };
  const auto plain = std::make_unique<char[]>(kMiB);
  const auto wide = std::make_unique<Wide>();
  EXPECT_TRUE(in_arena(plain.get()));
  EXPECT_TRUE(in_arena(wide.get()));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.get()) % 4096, 0u);
  std::vector<int> numbers;
  for (int i = 0; i < 2'000'000; ++i) numbers.push_back(i);
  EXPECT_TRUE(in_arena(numbers.data()));
  for (int i = 0; i < 2'000'000; ++i) ASSERT_EQ(numbers[static_cast<std::size_t>(i)], i);
}

TEST(Interposed, FullFarMemoryIsEnomemAndWhatIsAllocatedStays) {
  std::vector<void*> kept;
  errno = 0;
  while (void* const memory = opaque(std::malloc(5 * kMiB))) {
    std::memset(memory, 9, 5 * kMiB);
    kept.push_back(memory);
    ASSERT_LT(kept.size(), 100u);
  }
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(map(5 * kMiB), MAP_FAILED);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_THROW(opaque(operator new(5 * kMiB)), std::bad_alloc);
  EXPECT_GT(kept.size(), 8u);
  for (void* const memory : kept) {
    EXPECT_EQ(static_cast<char*>(memory)[3 * kMiB], 9);
    std::free(memory);
  }
  void* const again = opaque(std::malloc(40 * kMiB));
  EXPECT_NE(again, nullptr);
  std::free(again);
}

TEST(Interposed, FreeAndMallocKeepErrno) {
  errno = 77;
  void* const memory = opaque(std::malloc(kMiB));
  std::free(memory);
  EXPECT_EQ(errno, 77);
}

TEST(Interposed, OnlyPlainAnonymousMappingsAreInTheArena) {
  void* const plain = map(kMiB);
  EXPECT_TRUE(in_arena(plain));
  EXPECT_TRUE(is_zero(plain, kMiB));
  EXPECT_EQ(munmap(plain, kMiB), 0);
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  void* const others[] = {map(4 * kKiB),
                          map(kMiB, 0, PROT_NONE),
                          map(kMiB, 0, PROT_READ),
                          map(kMiB, MAP_STACK),
                          map(kMiB, MAP_NORESERVE),
                          mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
                          mmap(nullptr, 64 * kKiB, PROT_READ, MAP_PRIVATE, file, 0)};
  for (void* const other : others) {
    EXPECT_NE(other, MAP_FAILED);
    EXPECT_FALSE(in_arena(other));
    EXPECT_EQ(munmap(other, 4 * kKiB), 0);
  }
  close(file);
}

TEST(Interposed, APartOfAMappingCanBeUnmapped) {
  auto* const memory = static_cast<char*>(map(4 * kMiB));
  fill(memory, 4 * kMiB, 11);
  ASSERT_EQ(munmap(memory + kMiB, kMiB), 0);
  sweep();
  EXPECT_TRUE(holds(memory, kMiB, 11));
  for (std::size_t i = 2 * kMiB; i < 4 * kMiB; i += 64)
    ASSERT_EQ(static_cast<unsigned char>(memory[i]), static_cast<unsigned char>(i / 64 * 11));
  EXPECT_EXIT(opaque(memory)[kMiB + 5] = 1, ::testing::KilledBySignal(SIGSEGV), "");
  ASSERT_EQ(munmap(memory, kMiB), 0);
  ASSERT_EQ(munmap(memory + 2 * kMiB, 2 * kMiB), 0);
  // All memory was released, so it can be mapped again.
  void* const all = map(56 * kMiB);
  EXPECT_NE(all, MAP_FAILED);
  munmap(all, 56 * kMiB);
}

TEST(Interposed, MremapGrowsShrinksAndMoves) {
  auto* memory = static_cast<unsigned char*>(map(2 * kMiB));
  fill(memory, 2 * kMiB, 13);
  memory = static_cast<unsigned char*>(mremap(memory, 2 * kMiB, 5 * kMiB, MREMAP_MAYMOVE));
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_TRUE(holds(memory, 2 * kMiB, 13));
  EXPECT_TRUE(is_zero(memory + 2 * kMiB, 3 * kMiB));
  ASSERT_EQ(mremap(memory, 5 * kMiB, kMiB, 0), memory);
  EXPECT_TRUE(holds(memory, kMiB, 13));
  void* const target = map(kMiB, 0, PROT_NONE);
  ASSERT_EQ(mremap(memory, kMiB, kMiB, MREMAP_MAYMOVE | MREMAP_FIXED, target), target);
  EXPECT_TRUE(holds(target, kMiB, 13));
  EXPECT_FALSE(in_arena(target));
  munmap(target, kMiB);
}

TEST(Interposed, DontNeedReadsAsZerosAfterwards) {
  for (const int advice : {MADV_DONTNEED, MADV_FREE}) {
    auto* const memory = static_cast<char*>(map(8 * kMiB));
    std::memset(memory, 5, 8 * kMiB);
    ASSERT_EQ(madvise(memory + kMiB, 6 * kMiB, advice), 0);
    EXPECT_TRUE(is_zero(memory + kMiB, 6 * kMiB));
    EXPECT_EQ(memory[kMiB - 1], 5);
    EXPECT_EQ(memory[7 * kMiB], 5);
    std::memset(memory + kMiB, 6, kMiB);
    sweep();
    EXPECT_EQ(memory[kMiB + 100], 6);
    EXPECT_EQ(memory[3 * kMiB], 0);
    munmap(memory, 8 * kMiB);
  }
}

TEST(Interposed, OtherAdviceKeepsTheContent) {
  auto* const memory = static_cast<char*>(map(2 * kMiB));
  std::memset(memory, 5, 2 * kMiB);
  constexpr int kPopulateRead = 22, kPopulateWrite = 23, kCollapse = 25, kGuard = 102, kUnknown = 4711;
  for (const int advice :
       {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_COLD,
        MADV_PAGEOUT, MADV_MERGEABLE, MADV_UNMERGEABLE, MADV_DONTDUMP, MADV_DODUMP, MADV_DONTFORK, MADV_DOFORK,
        MADV_WIPEONFORK, MADV_KEEPONFORK, kPopulateRead, kPopulateWrite, kCollapse})
    EXPECT_EQ(madvise(memory, 2 * kMiB, advice), 0) << advice;
  for (const int advice : {MADV_REMOVE, kGuard, kUnknown}) {
    EXPECT_EQ(madvise(memory, 2 * kMiB, advice), -1) << advice;
    EXPECT_EQ(errno, EINVAL) << advice;
  }
  EXPECT_EQ(posix_madvise(memory, 2 * kMiB, POSIX_MADV_DONTNEED), 0);
  EXPECT_EQ(memory[kMiB], 5);
  munmap(memory, 2 * kMiB);
}

TEST(Interposed, AdviceForAHoleIsENOMEMAndTheRestIsAdvised) {
  auto* const memory = static_cast<char*>(map(3 * kMiB));
  std::memset(memory, 5, 3 * kMiB);
  ASSERT_EQ(munmap(memory + kMiB, kMiB), 0);
  EXPECT_EQ(madvise(memory, 3 * kMiB, MADV_WILLNEED), -1);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(madvise(memory, 3 * kMiB, MADV_DONTNEED), -1);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_TRUE(is_zero(memory, kMiB));
  EXPECT_TRUE(is_zero(memory + 2 * kMiB, kMiB));
  munmap(memory, 3 * kMiB);
}

TEST(Interposed, AForkedChildFindsWhatIsToBeWipedEmpty) {
  auto* const memory = static_cast<char*>(map(3 * kMiB));
  fill(memory, 3 * kMiB, 5);
  ASSERT_EQ(madvise(memory, 2 * kMiB, MADV_WIPEONFORK), 0);
  ASSERT_EQ(madvise(memory + kMiB, kMiB, MADV_KEEPONFORK), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(is_zero(memory, kMiB) && holds(memory + kMiB, 2 * kMiB, 5) ? 0 : 1);
  EXPECT_EQ(status_of(child), 0);
  EXPECT_TRUE(holds(memory, 3 * kMiB, 5)) << "in the parent it stays";
  munmap(memory, 3 * kMiB);
}

TEST(Interposed, AFixedMappingOverAPartReadsAsZerosOrIsRefused) {
  auto* const memory = static_cast<char*>(map(2 * kMiB));
  std::memset(memory, 5, 2 * kMiB);
  constexpr int kFixed = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  ASSERT_EQ(mmap(memory, kMiB, PROT_READ | PROT_WRITE, kFixed, -1, 0), memory);
  EXPECT_TRUE(is_zero(memory, kMiB));
  EXPECT_EQ(memory[kMiB], 5);
  EXPECT_EQ(mmap(memory, kMiB, PROT_NONE, kFixed, -1, 0), MAP_FAILED);
  EXPECT_EQ(errno, ENOMEM);
  munmap(memory, 2 * kMiB);
}

TEST(Interposed, MprotectTakesReadingAndWritingOnly) {
  void* const memory = map(kMiB);
  EXPECT_EQ(mprotect(memory, kMiB, PROT_READ | PROT_WRITE), 0);
  EXPECT_EQ(mprotect(memory, kMiB, PROT_READ), -1);
  EXPECT_EQ(errno, EACCES);
  munmap(memory, kMiB);
  EXPECT_EQ(mprotect(memory, kMiB, PROT_READ | PROT_WRITE), -1);
  EXPECT_EQ(errno, ENOMEM);
  void* const reserved = map(kMiB, 0, PROT_NONE);
  ASSERT_EQ(mprotect(reserved, kMiB, PROT_READ | PROT_WRITE), 0);
  std::memset(reserved, 1, kMiB);
  munmap(reserved, kMiB);
}

TEST(Interposed, MlockPinsWithinTheLimit) {
  void* const memory = map(8 * kMiB);
  ASSERT_EQ(mlock(memory, kMiB), 0);
  ASSERT_EQ(mlock(memory, kMiB), 0);
  EXPECT_EQ(madvise(memory, kMiB, MADV_DONTNEED), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(mlock(memory, 8 * kMiB), -1);
  EXPECT_EQ(errno, ENOMEM);
  ASSERT_EQ(munlock(memory, 8 * kMiB), 0);
  EXPECT_EQ(madvise(memory, kMiB, MADV_DONTNEED), 0);
  EXPECT_EQ(mlockall(MCL_CURRENT), -1);
  munmap(memory, 8 * kMiB);
}

sigjmp_buf back;
void jump_back(int /*number*/) {
  siglongjmp(back, 1);
}

TEST(Interposed, TheProgramsOwnHandlerOfBusErrorsIsCalledForOtherFaults) {
  char name[] = "/dev/shm/ringside-interposed-XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  unlink(name);
  auto* const beyond = static_cast<char*>(mmap(nullptr, kPage, PROT_READ, MAP_SHARED, file, 0));
  struct sigaction before {
  }, now{};
  ASSERT_NE(std::signal(SIGBUS, jump_back), SIG_ERR);
  ASSERT_EQ(sigaction(SIGBUS, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, jump_back);
  volatile bool caught = sigsetjmp(back, 1) != 0;
  if (!caught) (void)*static_cast<volatile char*>(beyond);
  EXPECT_TRUE(caught);
  Filled memory(8 * kMiB, 17);
  EXPECT_TRUE(memory.is_whole());
  before.sa_handler = SIG_DFL;
  sigaction(SIGBUS, &before, nullptr);
  munmap(beyond, kPage);
  close(file);
}

TEST(Interposed, BlockedSignalsDoNotStopFaults) {
  sigset_t all, before;
  sigfillset(&all);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &all, &before), 0);
  Filled memory(8 * kMiB, 19);
  EXPECT_TRUE(memory.is_whole());
  sigset_t now;
  sigprocmask(SIG_SETMASK, &before, &now);
  EXPECT_EQ(sigismember(&now, SIGUSR1), 1);
}

char* touched_in_handler;
void touch(int /*number*/) {
  for (std::size_t i = 0; i < 8 * kMiB; i += kPage) ++touched_in_handler[i];
}

TEST(Interposed, AHandlerWithAFullMaskMayTouchTheArena) {
  touched_in_handler = static_cast<char*>(std::calloc(8, kMiB));
  struct sigaction action {
  }, before{};
  action.sa_handler = touch;
  sigfillset(&action.sa_mask);
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  raise(SIGUSR1);
  raise(SIGUSR1);
  EXPECT_EQ(touched_in_handler[5 * kMiB], 2);
  sigaction(SIGUSR1, &before, nullptr);
  std::free(touched_in_handler);
}

void* fill_some(void* /*argument*/) {
  Filled memory(6 * kMiB, 23);
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory.is_whole()));
}

TEST(Interposed, ThreadsWithTheSmallestStackAndWithAStackInTheArenaWork) {
  auto* const stack = static_cast<char*>(opaque(std::calloc(256, kKiB)));
  ASSERT_TRUE(in_arena(stack));
  sweep();
  for (int which = 0; which < 2; ++which) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (which == 0) {
      ASSERT_EQ(pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(PTHREAD_STACK_MIN)), 0);
    } else {
      ASSERT_EQ(pthread_attr_setstack(&attributes, stack, 256 * kKiB), 0);
    }
    pthread_t thread;
    ASSERT_EQ(pthread_create(&thread, &attributes, fill_some, nullptr), 0);
    void* right = nullptr;
    pthread_join(thread, &right);
    EXPECT_NE(right, nullptr);
    pthread_attr_destroy(&attributes);
  }
  std::free(stack);
}

TEST(Interposed, ASmallAlternateStackIsReportedAsItWasGiven) {
  static char small[8 * kKiB];
  const stack_t given = {.ss_sp = small, .ss_flags = 0, .ss_size = sizeof small};
  stack_t before{}, now{};
  ASSERT_EQ(sigaltstack(&given, &before), 0);
  EXPECT_NE(before.ss_flags & SS_DISABLE, 0);
  ASSERT_EQ(sigaltstack(nullptr, &now), 0);
  EXPECT_EQ(now.ss_sp, small);
  EXPECT_EQ(now.ss_size, sizeof small);
  EXPECT_NE(fill_some(nullptr), nullptr);
  EXPECT_EQ(sigaltstack(&before, nullptr), 0);
}

TEST(Interposed, AForkedChildHasItsOwnCopy) {
  Filled memory(16 * kMiB, 29);
  auto* const zeros = static_cast<char*>(std::calloc(2, kMiB));
  const pid_t child = fork();
  if (child == 0) {
    bool right = memory.is_whole() && is_zero(zeros, 2 * kMiB);
    memory.fill_again(31);
    void* const more = opaque(std::malloc(8 * kMiB));
    right = right && in_arena(more) && fill_some(nullptr) != nullptr && memory.is_whole();
    _exit(right ? 7 : 1);
  }
  memory.fill_again(37);
  EXPECT_EQ(status_of(child), 7);
  EXPECT_TRUE(memory.is_whole());
  std::free(zeros);
}

TEST(Interposed, AForkAmongAllocatingThreadsGivesAWholeChild) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop.load()) fill_some(nullptr);
    });
  }
  Filled memory(4 * kMiB, 41);
  for (int round = 0; round < 5; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(memory.is_whole() && fill_some(nullptr) != nullptr ? 7 : 1);
    EXPECT_EQ(status_of(child), 7);
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
}

TEST(Interposed, AChildOfVforkMayCallExec) {
  Filled memory(8 * kMiB, 43);
  EXPECT_EQ(std::system("exit 5"), 5 << 8);
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", static_cast<char*>(nullptr));
    _exit(1);
  }
  EXPECT_EQ(status_of(child), 0);
  EXPECT_TRUE(memory.is_whole());
}

TEST(Interposed, ClosingAllDescriptorsLeavesTheArena) {
  Filled memory(8 * kMiB, 47);
  const pid_t child = fork();
  if (child == 0) {
    for (int descriptor = 3; descriptor < 2000; ++descriptor) close(descriptor);
    closefrom(3);
    _exit(memory.is_whole() ? 7 : 1);
  }
  EXPECT_EQ(status_of(child), 7);
}

}  // namespace
}  // namespace ringside::testing
