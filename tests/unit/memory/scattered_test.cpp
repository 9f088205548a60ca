// SPDX-License-Identifier: BSD-3-Clause
// Evictions of granules without neighbours, and disk reads ahead of a stream: neither of these optimisations may lose a
// store.
#include <thread>
#include <vector>

#include "tests/unit/memory/arena.hpp"

namespace ringside::testing {
namespace {

constexpr uint64_t kPageWords = 4096 / sizeof(uint64_t);

class Scattered : public ::testing::Test {
 protected:
  static constexpr uint64_t kBytes = 32 * kMiB, kPages = kBytes / 4096;

  /// 32 MiB of words, eight times the DRAM; the first word of each page is the page's number.
  static uint64_t* numbered_pages() {
    auto* const words = static_cast<uint64_t*>(ringside_memory_alloc(kBytes));
    for (uint64_t page = 0; page < kPages; ++page) words[page * kPageWords] = page;
    return words;
  }
  static uint64_t any_page(uint64_t* random) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (*random >> 33) % kPages;
  }
};

TEST_F(Scattered, GranulesThatOnlyLoadsTouchedAreNotWritten) {
  START_ARENA(arena, small_options());
  uint64_t* const words = numbered_pages();
  ASSERT_EQ(ringside_memory_advise(words, kBytes, RINGSIDE_MEMORY_DONT_NEED), 0) << ringside_memory_error();
  const auto before = stats_now();
  uint64_t random = 3;
  for (int touch = 0; touch < 20'000; ++touch) {
    const uint64_t page = any_page(&random);
    ASSERT_EQ(words[page * kPageWords], page);
  }
  const auto after = stats_now();
  EXPECT_EQ(after.written_bytes, before.written_bytes);
  EXPECT_GT(after.evicted_clean, before.evicted_clean + 5'000);
}

TEST_F(Scattered, AStoreAfterALoadIsKept) {
  for (const uint32_t copy_only : {0u, 1u}) {
    START_ARENA(arena, (Way{1, copy_only}.in("/dev/shm")));
    uint64_t* const words = numbered_pages();
    // There are two threads, each of which uses every second page. Every third touch only loads, so that some pages
    // remain protected.
    const auto work = [&](uint64_t which) {
      std::vector<uint64_t> expected(kPages);
      for (uint64_t page = 0; page < kPages; ++page) expected[page] = page;
      uint64_t random = which + 11, wrong = 0;
      for (int touch = 0; touch < 30'000; ++touch) {
        const uint64_t page = any_page(&random) / 2 * 2 + which;
        volatile uint64_t* const word = words + page * kPageWords;
        wrong += *word != expected[page];
        if (touch % 3 != 0) *word = expected[page] = random;
      }
      for (uint64_t page = which; page < kPages; page += 2) wrong += words[page * kPageWords] != expected[page];
      EXPECT_EQ(wrong, 0u) << "copy_only " << copy_only << ", thread " << which;
    };
    std::thread other(work, 1);
    work(0);
    other.join();
  }
}

TEST(DiskStream, SeesWhatWasWrittenAfterItsBlockWasReadAhead) {
  START_ARENA(arena, small_options("/var/tmp"));  // /var/tmp is usually on a disk
  constexpr uint64_t kBytes = 16 * kMiB, kWords = kBytes / sizeof(uint64_t), kStep = kMiB / sizeof(uint64_t);
  auto* const words = static_cast<uint64_t*>(ringside_memory_aligned(kMiB, kBytes));
  ASSERT_NE(words, nullptr) << ringside_memory_error();
  for (uint64_t i = 0; i < kWords; ++i) words[i] = i;
  ASSERT_EQ(ringside_memory_advise(words, kBytes, RINGSIDE_MEMORY_DONT_NEED), 0) << ringside_memory_error();
  // The stream reads 1 MiB, and the reads of the next blocks begin. After this, a part of the next 1 MiB changes and
  // leaves DRAM.
  for (uint64_t begin = 0; begin < kWords; begin += kStep) {
    for (uint64_t i = begin; i < begin + kStep; ++i) ASSERT_EQ(words[i], i % 1000 == 0 && begin != 0 ? i + 1 : i);
    const uint64_t next = begin + kStep;
    if (next == kWords) break;
    for (uint64_t i = (next + 999) / 1000 * 1000; i < next + kStep; i += 1000) words[i] = i + 1;
    ASSERT_EQ(ringside_memory_advise(words + next, kMiB, RINGSIDE_MEMORY_DONT_NEED), 0) << ringside_memory_error();
  }
}

}  // namespace
}  // namespace ringside::testing
