// SPDX-License-Identifier: BSD-3-Clause
// Far memory that is read and written in place: which chunks are promoted and demoted. No store may be lost during a
// promotion or demotion. tmpfs is used in place of DAX here, because both are mapped files.
#include "memory/in_place/in_place.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "memory/arena/granule_table.hpp"
#include "memory/core.hpp"
#include "memory/far/far_file.hpp"
#include "tests/unit/memory/apart.hpp"
#include "tests/unit/memory/arena.hpp"

namespace ringside {
namespace {

using namespace testing;

constexpr uint64_t kWords = 16 * kMiB / sizeof(uint64_t);
constexpr uint64_t kChunk = 64 << 10;

ringside_memory_options in_place_options() {
  return Way{1, 0, 0, 1}.in("/dev/shm");
}

uint64_t* filled() {
  auto* const words = static_cast<uint64_t*>(ringside_memory_alloc(kWords * sizeof(uint64_t)));
  if (words == nullptr) throw std::runtime_error(ringside_memory_error());
  for (uint64_t i = 0; i < kWords; ++i) words[i] = i * 3 + 1;
  return words;
}

uint64_t differing(const uint64_t* words) {
  uint64_t found = 0;
  for (uint64_t i = 0; i < kWords; ++i) found += words[i] == i * 3 + 1 ? 0 : 1;
  return found;
}

/// Touches [from, from + bytes) until `so` returns true, for a minute at most.
::testing::AssertionResult touch_until(const volatile uint64_t* from, uint64_t bytes, const std::function<bool()>& so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!so()) {
    for (uint64_t i = 0; i < bytes / sizeof(uint64_t); i += 512) static_cast<void>(from[i]);
    if (std::chrono::steady_clock::now() > end) return ::testing::AssertionFailure() << "not within a minute";
  }
  return ::testing::AssertionSuccess();
}

TEST(InPlace, IsChosenByWhatFarMemoryIsAndByTheOptions) {
  {
    START_ARENA(arena, small_options());
    EXPECT_EQ(stats_now().placement, RINGSIDE_MEMORY_CACHED_IN_MEMORY);
    void* const memory = ringside_memory_alloc(8 * kMiB);
    EXPECT_EQ(ringside_memory_is_in_place(memory), 0);
    EXPECT_EQ(ringside_memory_advise(memory, 8 * kMiB, RINGSIDE_MEMORY_IN_PLACE), -1);
    EXPECT_EQ(errno, ENOTSUP);
    EXPECT_STREQ(ringside_memory_error(),
                 "ringside_memory_advise: far memory is not used in place: tmpfs is DRAM itself, outside the limit");
  }
  ringside_memory_options options = small_options();
  options.in_place = 2;
  {
    START_ARENA(arena, options);
    EXPECT_EQ(stats_now().placement, RINGSIDE_MEMORY_CACHED_AS_ASKED);
  }
  options.in_place = 3;
  EXPECT_EQ(ringside_memory_start(&options), -1);
  EXPECT_STREQ(ringside_memory_error(),
               "ringside_memory_start: in_place is 3, expected 0 (on DAX), 1 (always) or 2 (never)");
  START_ARENA(arena, in_place_options());
  EXPECT_EQ(stats_now().placement, RINGSIDE_MEMORY_IN_PLACE_AS_ASKED);
  EXPECT_EQ(ringside_memory_is_in_place(ringside_memory_alloc(8 * kMiB)), 1);
  EXPECT_EQ(ringside_memory_is_in_place(ringside_memory_alloc(kMiB / 2)), 0) << "too small for it";
}

TEST(InPlace, ColdMemoryTakesNeitherDramNorFaults) {
  START_ARENA(arena, in_place_options());
  const uint64_t* const words = filled();
  EXPECT_EQ(stats_now().faults, 0u);
  EXPECT_EQ(stats_now().in_place_bytes, kWords * sizeof(uint64_t));
  EXPECT_EQ(differing(words), 0u);
}

TEST(InPlace, TouchedChunksArePromotedAndTheirStoresAreKept) {
  START_ARENA(arena, in_place_options());
  uint64_t* const words = filled();
  // Two threads store continuously to every 16th chunk (1 MiB in total), also while a chunk is being copied. These
  // chunks remain hot, so they must leave space in DRAM for the chunks that the test touches.
  constexpr uint64_t kStride = 16 * kChunk / sizeof(uint64_t);
  std::atomic<bool> stop{false};
  std::vector<uint64_t> counts(2, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < counts.size(); ++t) {
    threads.emplace_back([&, t] {
      volatile uint64_t* const mine = words + t;  // one word in each of the chunks 0, 16, 32, …
      while (!stop.load()) {
        for (uint64_t at = 0; at < kWords; at += kStride) mine[at] = mine[at] + 1;
        ++counts[t];
      }
    });
  }
  EXPECT_TRUE(touch_until(words, 2 * kMiB, [] { return stats_now().promoted_bytes >= 2 * kMiB; }));
  // Other chunks become hot, and untouched chunks are demoted to make space for them.
  EXPECT_TRUE(touch_until(words + kWords / 2, 6 * kMiB, [] { return stats_now().demotions >= 10; }));
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < counts.size(); ++t) {
    for (uint64_t at = 0; at < kWords; at += kStride) {
      ASSERT_EQ(words[at + t], (at + t) * 3 + 1 + counts[t]) << "thread " << t << " at " << at;
      words[at + t] = (at + t) * 3 + 1;
    }
  }
  EXPECT_EQ(differing(words), 0u);
  const struct ringside_memory_stats stats = stats_now();
  EXPECT_LE(stats.dram_peak_bytes, stats.dram_limit_bytes);
  EXPECT_LE(stats.promoted_bytes, stats.dram_limit_bytes / 8 * 7);
  EXPECT_GT(stats.sampled, stats.sampled_touched);
}

TEST(InPlace, ALowerLimitAndFreeGiveDramBack) {
  START_ARENA(arena, in_place_options());
  uint64_t* const words = filled();
  EXPECT_TRUE(touch_until(words, 3 * kMiB, [] { return stats_now().promoted_bytes >= 2 * kMiB; }));
  ASSERT_EQ(ringside_memory_limit(kMiB), 0) << ringside_memory_error();
  EXPECT_LE(stats_now().dram_bytes, kMiB);
  EXPECT_EQ(differing(words), 0u);
  ringside_memory_free(words);
  EXPECT_EQ(stats_now().dram_bytes, 0u);
  EXPECT_EQ(stats_now().in_place_bytes, 0u);
  EXPECT_EQ(stats_now().far_bytes, 0u);
  const auto* const again = static_cast<const uint64_t*>(ringside_memory_alloc(kWords * sizeof(uint64_t)));
  ASSERT_EQ(static_cast<const void*>(again), static_cast<const void*>(words)) << "the addresses are used again";
  for (uint64_t i = 0; i < kWords; ++i) ASSERT_EQ(again[i], 0u);
}

TEST(InPlace, AnAllocationBecomesCachedAndInPlaceAgain) {
  START_ARENA(arena, in_place_options());
  uint64_t* const words = filled();
  const size_t bytes = kWords * sizeof(uint64_t);
  EXPECT_TRUE(touch_until(words, kMiB, [] { return stats_now().promotions > 0; }));
  std::atomic<bool> stop{false};
  uint64_t count = 0;
  std::thread stores([&] {
    volatile uint64_t* const mine = words;
    for (; !stop.load(); ++count) {
      for (uint64_t at = 0; at < kWords; at += kChunk / sizeof(uint64_t)) mine[at] = mine[at] + 1;
    }
  });
  for (int round = 0; round < 100; ++round) {
    ASSERT_EQ(ringside_memory_advise(words, bytes, RINGSIDE_MEMORY_CACHED), 0) << ringside_memory_error();
    EXPECT_EQ(ringside_memory_is_in_place(words), 0);
    const auto at = static_cast<uint64_t>(round) * 1000 + 1;
    EXPECT_EQ(words[at], at * 3 + 1);
    EXPECT_GT(stats_now().faults, 0u);
    ASSERT_EQ(ringside_memory_advise(words, bytes, RINGSIDE_MEMORY_IN_PLACE), 0) << ringside_memory_error();
    EXPECT_EQ(ringside_memory_is_in_place(words), 1);
  }
  stop.store(true);
  stores.join();
  for (uint64_t at = 0; at < kWords; at += kChunk / sizeof(uint64_t)) {
    ASSERT_EQ(words[at], at * 3 + 1 + count);
    words[at] = at * 3 + 1;
  }
  EXPECT_EQ(differing(words), 0u);
}

TEST(InPlace, WhatIsPinnedStaysWhereItIs) {
  START_ARENA(arena, in_place_options());
  uint64_t* const words = filled();
  ASSERT_EQ(ringside_memory_pin(words, 4096, 1), 0) << ringside_memory_error();
  EXPECT_EQ(stats_now().pinned_bytes, 0u) << "in place a pin takes no DRAM";
  EXPECT_EQ(ringside_memory_advise(words, kWords * sizeof(uint64_t), RINGSIDE_MEMORY_CACHED), -1);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_TRUE(touch_until(words, kMiB, [] { return stats_now().promotions >= 15; }));
  EXPECT_FALSE(memory::in_place.promoted(memory::table.page_of(words) >> memory::in_place.chunk_shift()));
  ASSERT_EQ(ringside_memory_unpin(words, 4096), 0);
  EXPECT_TRUE(touch_until(words, kMiB, [words] {
    return memory::in_place.promoted(memory::table.page_of(words) >> memory::in_place.chunk_shift());
  }));
  EXPECT_EQ(differing(words), 0u);
}

TEST(InPlace, ResizingKeepsTheContent) {
  START_ARENA(arena, in_place_options());
  uint64_t* words = filled();
  const size_t bytes = kWords * sizeof(uint64_t);
  EXPECT_TRUE(touch_until(words, 2 * kMiB, [] { return stats_now().promotions >= 10; }));
  auto* const smaller = static_cast<uint64_t*>(ringside_memory_realloc(words, kMiB + kChunk / 2));
  ASSERT_EQ(smaller, words);
  EXPECT_EQ(stats_now().in_place_bytes, kMiB + kChunk / 2);
  words = static_cast<uint64_t*>(ringside_memory_realloc(smaller, bytes));
  ASSERT_NE(words, nullptr);
  EXPECT_EQ(ringside_memory_is_in_place(words + kWords - 1), 1);
  const uint64_t kept = (kMiB + kChunk / 2) / sizeof(uint64_t);
  for (uint64_t i = 0; i < kWords; ++i) ASSERT_EQ(words[i], i < kept ? i * 3 + 1 : 0);
}

TEST(InPlace, FlushAndACopyForAChildHaveWhatWasPromoted) {
  START_ARENA(arena, in_place_options());
  uint64_t* const words = filled();
  EXPECT_TRUE(touch_until(words, 2 * kMiB, [] { return stats_now().promotions >= 10; }));
  for (uint64_t i = 0; i < 2 * kMiB / sizeof(uint64_t); ++i) words[i] = i + 7;
  const uint64_t offset = uint64_t{memory::table.page_of(words)} << memory::kPageShift;
  EXPECT_NE(std::memcmp(memory::far.map() + offset, words, 2 * kMiB), 0) << "nothing was promoted";
  uint64_t copied = 0;
  const long file = memory::write_copy("/dev/shm", &copied);
  ASSERT_GE(file, 0);
  std::vector<char> there(2 * kMiB);
  ASSERT_EQ(pread(static_cast<int>(file), there.data(), there.size(), static_cast<off_t>(offset)),
            static_cast<ssize_t>(there.size()));
  EXPECT_EQ(std::memcmp(there.data(), words, there.size()), 0);
  close(static_cast<int>(file));
  ASSERT_EQ(ringside_memory_flush(), 0);
  EXPECT_EQ(std::memcmp(memory::far.map() + offset, words, 2 * kMiB), 0);
}

TEST(InPlace, AForkedChildThatTouchesItEnds) {
  START_ARENA(arena, in_place_options());
  volatile uint64_t* const words = filled();
  constexpr int kSawZeros = 17, kSawContent = 18;
  const Ending ending = in_process([words] { return words[5] == 0 ? kSawZeros : kSawContent; });
  // A sanitizer reports the signal and exits with its own code.
  EXPECT_TRUE(ending.signal != 0 || (ending.code != kSawZeros && ending.code != kSawContent)) << ending.code;
}

std::atomic<int> own_faults{0};
uint64_t* faulting = nullptr;

TEST(InPlace, AFaultOfTheProgramReachesItsOwnHandler) {
  struct sigaction own {}, before {};
  own.sa_sigaction = [](int, siginfo_t* info, void*) {
    if (info->si_addr != faulting) _exit(3);
    ++own_faults;
    mprotect(faulting, 4096, PROT_READ | PROT_WRITE);
  };
  own.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGSEGV, &own, &before), 0);
  {
    START_ARENA(arena, in_place_options());
    faulting = filled();
    ASSERT_EQ(ringside_memory_pin(faulting, 4096, 0), 0);  // so that no promotion reverses the next line
    ASSERT_EQ(mprotect(faulting, 4096, PROT_READ), 0);
    *const_cast<volatile uint64_t*>(faulting) = 5;
    EXPECT_EQ(own_faults.load(), 1);
    EXPECT_EQ(*faulting, 5u);
  }
  ASSERT_EQ(sigaction(SIGSEGV, &before, nullptr), 0);
}

}  // namespace
}  // namespace ringside
