// SPDX-License-Identifier: BSD-3-Clause
// The DRAM limit, pins, and the memory that the process really uses.
#include <malloc.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "memory/system/available.hpp"
#include "tests/unit/memory/arena.hpp"
#include "tests/unit/sanitized.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside::testing {
namespace {

// Anonymous memory in DRAM: frames, tables and queues. (A mapped far file on tmpfs counts as shared memory.)
uint64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  uint64_t kilobytes = 0;
  while (status >> word) {
    if (word == "RssAnon:") status >> kilobytes;
  }
  return kilobytes * 1024;
}

TEST(Limits, FramesNeverPassTheLimitWhileItIsResized) {
  START_ARENA(arena, small_options());
  auto* const memory = static_cast<char*>(ringside_memory_alloc(32 * kMiB));
  for (const uint64_t limit : {4 * kMiB, kMiB, 16 * kMiB, 2 * kMiB}) {
    ASSERT_EQ(ringside_memory_limit(limit), 0) << ringside_memory_error();
    EXPECT_LE(stats_now().dram_bytes, limit);
    for (size_t i = 0; i < 32 * kMiB; i += 4096) ++memory[i];
    EXPECT_LE(stats_now().dram_bytes, limit);
    EXPECT_GE(stats_now().dram_bytes, limit - limit / 8) << "a limit is used";
  }
  for (size_t i = 0; i < 32 * kMiB; i += 4096) ASSERT_EQ(memory[i], 4);
  ringside_memory_free(memory);
}

TEST(Limits, TheProcessHoldsTheLimitAndLittleMore) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory counts too";
  ringside_memory_options options = small_options();
  options.dram_bytes = 64 * kMiB;
  options.far_bytes = 512 * kMiB;
  const uint64_t before = resident_bytes();
  START_ARENA(arena, options);
  auto* const memory = static_cast<char*>(ringside_memory_alloc(256 * kMiB));
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < 256 * kMiB; i += 4096) {
      ++memory[i];
      if (i % (16 * kMiB) == 0) {
        ASSERT_LE(resident_bytes() - before, options.dram_bytes + options.dram_bytes / 50 + 16 * kMiB)
            << "round " << round << " at " << i;
      }
    }
  }
  ringside_memory_free(memory);
}

TEST(Limits, PinnedGranulesStayInDram) {
  START_ARENA(arena, small_options());
  auto* const memory = static_cast<char*>(ringside_memory_alloc(32 * kMiB));
  memory[5 * kMiB] = 'p';
  ASSERT_EQ(ringside_memory_pin(memory + 5 * kMiB, kMiB, 1), 0) << ringside_memory_error();
  EXPECT_EQ(stats_now().pinned_bytes, kMiB);
  for (size_t i = 0; i < 32 * kMiB; i += 4096) ++memory[i];
  ASSERT_EQ(ringside_memory_advise(memory, 32 * kMiB, RINGSIDE_MEMORY_DONT_NEED), 0);
  const uint64_t faults = stats_now().faults;
  for (size_t i = 5 * kMiB; i < 6 * kMiB; i += 4096) ++memory[i];
  EXPECT_EQ(stats_now().faults, faults);
  ASSERT_EQ(ringside_memory_unpin(memory + 5 * kMiB, kMiB), 0);
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
  ASSERT_EQ(ringside_memory_advise(memory, 32 * kMiB, RINGSIDE_MEMORY_DONT_NEED), 0);
  EXPECT_EQ(memory[5 * kMiB], 'p' + 2);
  EXPECT_GT(stats_now().faults, faults);
  ringside_memory_free(memory);
}

TEST(Limits, AnUnpinPassesOverPiecesThatWereNeverAllocated) {
  START_ARENA(arena, small_options());
  auto* const low = static_cast<char*>(ringside_memory_alloc(kMiB));
  auto* const high = static_cast<char*>(ringside_memory_aligned(8 * kMiB, kMiB));
  ASSERT_EQ(ringside_memory_pin(low, 4096, 0), 0) << ringside_memory_error();
  ASSERT_EQ(ringside_memory_pin(high, 4096, 0), 0) << ringside_memory_error();
  ASSERT_EQ(ringside_memory_unpin(low, static_cast<size_t>(high + 4096 - low)), 0) << ringside_memory_error();
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
}

TEST(Limits, PinnedGranulesThatFillTheSmallQueueDoNotStopEviction) {
  START_ARENA(arena, small_options());
  // The pinned granules stay in the small queue. The pinned granules are more than a tenth of the frames, so evictions
  // would always begin with the small queue. The other granules move to the main queue.
  constexpr size_t kPinned = 130 * 4096, kUsed = 6 * kMiB;
  auto* const pinned = static_cast<char*>(ringside_memory_alloc(kPinned));
  auto* const used = static_cast<char*>(ringside_memory_alloc(kUsed));
  ASSERT_EQ(ringside_memory_pin(pinned, kPinned, 1), 0) << ringside_memory_error();
  for (int round = 0; round < 12; ++round) {
    for (size_t i = 0; i < kUsed; i += 4096) ++used[i];
  }
  for (size_t i = 0; i < kUsed; i += 4096) ASSERT_EQ(used[i], 12);
  ASSERT_EQ(ringside_memory_unpin(pinned, kPinned), 0);
  ringside_memory_free(used);
  ringside_memory_free(pinned);
}

TEST(Limits, ALimitBelowWhatIsPinnedIsRefusedAndChangesNothing) {
  START_ARENA(arena, small_options());
  auto* const memory = static_cast<char*>(ringside_memory_alloc(8 * kMiB));
  ASSERT_EQ(ringside_memory_pin(memory, 3 * kMiB, 0), 0) << ringside_memory_error();
  EXPECT_EQ(ringside_memory_limit(2 * kMiB), -1);
  EXPECT_EQ(errno, EBUSY);
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, "3145728 bytes are pinned", ringside_memory_error());
  EXPECT_EQ(stats_now().dram_limit_bytes, 4 * kMiB);
  EXPECT_EQ(ringside_memory_pin(memory + 4 * kMiB, 2 * kMiB, 0), -1) << "nothing would be left for other granules";
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(stats_now().pinned_bytes, 3 * kMiB) << "a pin that failed leaves none";
  ringside_memory_free(memory);
  EXPECT_EQ(stats_now().pinned_bytes, 0u);
  EXPECT_EQ(ringside_memory_limit(2 * kMiB), 0) << ringside_memory_error();
}

TEST(Limits, CleanGranulesAreNotWritten) {
  for (const char* folder : {"/dev/shm", "/var/tmp"}) {
    START_ARENA(arena, small_options(folder));
    auto* const memory = static_cast<char*>(ringside_memory_alloc(16 * kMiB));
    std::memset(memory, 7, 16 * kMiB);
    ASSERT_EQ(ringside_memory_flush(), 0);
    const uint64_t written = stats_now().written_bytes;
    EXPECT_EQ(written, 16 * kMiB) << folder;
    for (size_t i = 0; i < 16 * kMiB; i += 4096) ASSERT_EQ(memory[i], 7);
    EXPECT_EQ(stats_now().written_bytes, written) << folder;
    memory[9 * kMiB] = 8;
    ASSERT_EQ(ringside_memory_flush(), 0);
    EXPECT_EQ(stats_now().written_bytes, written + 4096) << folder;
    ringside_memory_free(memory);
  }
}

class CgroupLimit : public ::testing::Test {
 protected:
  uint64_t limit(const std::string& groups) const {
    return memory::cgroup_limit(folder_.write("groups", groups).c_str(), folder_.path().c_str());
  }
  void set(const std::string& group, const std::string& file, const std::string& limit) const {
    std::filesystem::create_directories(folder_.file(group));
    folder_.write(group + "/" + file, limit);
  }
  TemporaryFolder folder_;
};

TEST_F(CgroupLimit, OfVersion2IsTheSmallestOfTheGroupAndThoseAbove) {
  set("user/job", "memory.max", "8000000000\n");
  set("user", "memory.max", "max\n");
  EXPECT_EQ(limit("0::/user/job\n"), 8'000'000'000U);
  set("user", "memory.max", "500000000\n");
  EXPECT_EQ(limit("0::/user/job\n"), 500'000'000U);
  EXPECT_EQ(limit("0::/other\n"), UINT64_MAX);
}

TEST_F(CgroupLimit, OfVersion1IsThatOfTheMemoryHierarchy) {
  set("memory/user/job", "memory.limit_in_bytes", "268435456\n");
  set("memory/user", "memory.limit_in_bytes", "9223372036854771712\n");
  set("cpu/user/job", "memory.limit_in_bytes", "1\n");
  EXPECT_EQ(limit("9:name=systemd:/user\n4:memory:/user/job\n1:cpu:/user/job\n0::/\n"), 268'435'456U);
  EXPECT_EQ(limit("4:cpuset,memory:/user/job\n"), 268'435'456U);
  EXPECT_EQ(limit("4:cpuset,memory_like:/user/job\n"), UINT64_MAX);
}

TEST_F(CgroupLimit, OfAContainerIsThatOfItsOwnRoot) {
  set(".", "memory.max", "1000000\n");
  EXPECT_EQ(limit("0::/as/the/host/sees/it\n"), 1'000'000U);
  EXPECT_EQ(limit("0::/\n"), 1'000'000U);
  EXPECT_EQ(limit(""), UINT64_MAX);
  EXPECT_EQ(limit("no groups"), UINT64_MAX);
}

}  // namespace
}  // namespace ringside::testing
