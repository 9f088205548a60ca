// SPDX-License-Identifier: BSD-3-Clause
// The memory that the allocation functions return, keep and free.
#include <cstring>
#include <vector>

#include "tests/unit/memory/arena.hpp"

namespace ringside::testing {
namespace {

char* allocated(size_t bytes) {
  return static_cast<char*>(ringside_memory_alloc(bytes));
}

TEST(Allocation, AllocatedMemoryReadsAsZerosAlsoWhereFreedMemoryWas) {
  START_ARENA(arena, small_options());
  for (int round = 0; round < 3; ++round) {
    char* const memory = allocated(16 * kMiB);
    ASSERT_NE(memory, nullptr) << ringside_memory_error();
    for (size_t i = 0; i < 16 * kMiB; i += 64) {
      ASSERT_EQ(memory[i], 0) << i << " in round " << round;
      memory[i] = 'x';
    }
    ringside_memory_free(memory);
  }
}

TEST(Allocation, SmallAllocationsDoNotOverlap) {
  START_ARENA(arena, small_options());
  std::vector<unsigned char*> blocks;
  for (unsigned i = 0; i < 1000; ++i) {
    const size_t bytes = i % 7 * 3000;
    auto* const block = static_cast<unsigned char*>(ringside_memory_alloc(bytes));
    ASSERT_NE(block, nullptr) << ringside_memory_error();
    EXPECT_GE(ringside_memory_usable(block), bytes);
    std::memset(block, static_cast<int>(i % 251), bytes);
    blocks.push_back(block);
  }
  for (unsigned i = 0; i < 1000; ++i) {
    for (size_t j = 0; j < i % 7 * 3000; ++j) ASSERT_EQ(blocks[i][j], i % 251) << "block " << i << ", byte " << j;
    ringside_memory_free(blocks[i]);
  }
  EXPECT_EQ(stats_now().far_bytes, 0u);
}

TEST(Allocation, FullFarMemoryIsEnomemAndWhatIsAllocatedStaysUsable) {
  START_ARENA(arena, small_options());
  char* const memory = allocated(60 * kMiB);
  ASSERT_NE(memory, nullptr) << ringside_memory_error();
  errno = 0;
  EXPECT_EQ(ringside_memory_alloc(8 * kMiB), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "far memory is full", ringside_memory_error());
  std::memset(memory, 1, 60 * kMiB);
  EXPECT_EQ(memory[59 * kMiB], 1);
  ringside_memory_free(memory);
  char* const again = allocated(60 * kMiB);
  EXPECT_NE(again, nullptr) << ringside_memory_error();
  ringside_memory_free(again);
}

TEST(Allocation, ReallocKeepsTheContentAndGivesTheRestBack) {
  START_ARENA(arena, small_options());
  char* memory = allocated(10 * kMiB);
  for (size_t i = 0; i < 10 * kMiB; i += 4096) memory[i] = static_cast<char>(i / 4096 % 127);
  for (const size_t bytes : {20 * kMiB, 3 * kMiB + 5, 9 * kMiB}) {
    const size_t known = std::min<size_t>(bytes, 3 * kMiB);
    memory = static_cast<char*>(ringside_memory_realloc(memory, bytes));
    ASSERT_NE(memory, nullptr) << ringside_memory_error();
    for (size_t i = 0; i < known; i += 4096)
      ASSERT_EQ(memory[i], static_cast<char>(i / 4096 % 127)) << i << " of " << bytes;
    EXPECT_LE(stats_now().far_bytes, bytes + 4096);
  }
  ringside_memory_free(memory);
}

TEST(Allocation, AlignmentsUpToAGibibyteAreKept) {
  START_ARENA(arena, Way{}.in("/dev/shm", 1024 * kMiB));
  for (size_t alignment = 1; alignment <= 1024 * kMiB; alignment *= 4) {
    // After this allocation, the next page of the piece is aligned only to 4 KiB. For the largest alignments, there
    // would be no place beside such an allocation.
    void* const before = alignment < 256 * kMiB ? ringside_memory_alloc(100) : nullptr;
    void* const memory = ringside_memory_aligned(alignment, 100);
    ASSERT_NE(memory, nullptr) << alignment << ": " << ringside_memory_error();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
    ringside_memory_free(memory);
    ringside_memory_free(before);
  }
  EXPECT_EQ(ringside_memory_aligned(3, 100), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST(Allocation, AnotherGranuleSizeKeepsTheContent) {
  START_ARENA(arena, small_options());
  char* const memory = allocated(9 * kMiB + 12345);
  for (size_t i = 0; i < 9 * kMiB; i += 4096) memory[i] = static_cast<char>(i / 4096 % 127);
  for (const size_t granule : {65536u, 4096u, 262144u, 16384u, 131072u, 4096u}) {
    ASSERT_EQ(ringside_memory_granule(memory, granule), 0) << ringside_memory_error();
    for (size_t i = 0; i < 9 * kMiB; i += 4096)
      ASSERT_EQ(memory[i], static_cast<char>(i / 4096 % 127)) << i << ", granule " << granule;
    memory[9 * kMiB + 12344] = 1;
  }
  EXPECT_EQ(ringside_memory_granule(memory, 5000), -1);
  EXPECT_EQ(errno, EINVAL);
  ringside_memory_free(memory);
  EXPECT_EQ(stats_now().far_bytes, 0u);
}

TEST(Allocation, AForeignPointerIsRefused) {
  START_ARENA(arena, small_options());
  char own = 0;
  EXPECT_EQ(ringside_memory_usable(&own), 0u);
  EXPECT_EQ(ringside_memory_realloc(&own, 10), nullptr);
  EXPECT_EQ(errno, EINVAL);
  char* const memory = allocated(kMiB);
  EXPECT_EQ(ringside_memory_usable(memory + 1), 0u);
  EXPECT_EQ(ringside_memory_owns(memory + 1), 1);
  EXPECT_EQ(ringside_memory_advise(memory, 2 * kMiB, RINGSIDE_MEMORY_RANDOM), -1);
  EXPECT_EQ(errno, EINVAL);
  ringside_memory_free(memory);
}

}  // namespace
}  // namespace ringside::testing
