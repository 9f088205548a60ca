// SPDX-License-Identifier: BSD-3-Clause
// Which granules remain in DRAM, and which are known to be unchanged, if far memory is a file on a disk. On a disk,
// unnecessary reads and writes take the most time. The tests use the counts of faults and bytes, and no clock.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <random>
#include <string>

#include "memory/faults/read_ahead.hpp"
#include "tests/unit/memory/arena.hpp"
#include "tests/unit/memory/pages.hpp"

namespace ringside::testing {
namespace {

/// Starts `arena` with far memory on a disk, or skips the test.
#define START_ON_A_DISK(granule_bytes)                           \
  START_ARENA(arena, (Way{1, 0, granule_bytes}.in("/var/tmp"))); \
  if (stats_now().mapped != 0 || stats_now().moves == 0)         \
  GTEST_SKIP() << "/var/tmp is not a disk, or this kernel has no UFFDIO_MOVE"

TEST(OnADisk, StoresThroughWhatWasLoadedOpenTheirNeighbours) {
  START_ON_A_DISK(0);
  const Pages data(96), others(4096);
  data.store(1);
  others.store(9);  // four times the DRAM, so all of `data` leaves it
  ASSERT_EQ(data.count_of(1), data.count());  // only loads, so the data remain unchanged
  const uint64_t before = stats_now().faults_write;
  data.store(2);
  const uint64_t faults = stats_now().faults_write - before;
  EXPECT_GE(faults, 1U) << "what was loaded was not protected";
  EXPECT_LE(faults, 24U) << "of " << data.count() << " pages";
  others.store(8);
  EXPECT_EQ(data.count_of(2), data.count());
}

TEST(OnADisk, WhatIsOpenForStoresAndOnlyLoadedKeepsItsContent) {
  START_ON_A_DISK(0);
  const Pages data(96), others(4096);
  data.store(1);
  others.store(9);
  ASSERT_EQ(data.count_of(1), data.count());
  for (size_t page = 0; page < data.count(); page += 3) data[page] = 2;
  others.store(8);
  for (size_t page = 0; page < data.count(); ++page) EXPECT_EQ(data[page], page % 3 == 0 ? 2 : 1) << page;
}

TEST(OnADisk, WhatIsTouchedInProbationIsNotReadAgain) {
  START_ON_A_DISK(0);
  const Pages hot(128), stream(4096);  // an eighth of the DRAM, and four times as much
  hot.store(1);
  stream.store(2);
  const auto pass = [&] {
    for (size_t page = 0; page < stream.count(); ++page) {
      ASSERT_EQ(stream[page], 2);
      ASSERT_EQ(hot[page * 37 % hot.count()], 1);  // each hot page once in 128 pages of the stream
    }
  };
  const struct ringside_memory_stats before = stats_now();
  pass();
  pass();
  const struct ringside_memory_stats after = stats_now();
  EXPECT_GT(after.faults_probation, before.faults_probation);
  const uint64_t pages_read = (after.read_bytes - before.read_bytes) / kPageBytes;
  EXPECT_LE(pages_read, 2 * stream.count() + 2 * hot.count()) << "hot pages were read again and again";
}

TEST(OnADisk, WhatIsTouchedInOrderInProbationReturnsTogether) {
  START_ON_A_DISK(0);
  const Pages hot(768), stream(4096);  // three quarters of the DRAM, and four times as much
  hot.store(1);
  stream.store(2);
  const uint64_t before = stats_now().faults_probation;
  for (size_t next = 0; next < stream.count();) {
    ASSERT_EQ(hot.count_of(1), hot.count());
    for (const size_t end = next + 64; next < end; ++next) ASSERT_EQ(stream[next], 2);
  }
  const uint64_t faults = stats_now().faults_probation - before;
  EXPECT_GT(faults, 0U);
  EXPECT_LE(faults, 1024U) << "some 4,000 if each page returns alone";
}

// A value that the kernel has counted for this process (proc_pid_io(5)).
uint64_t counted(const char* name) {
  std::ifstream file("/proc/self/io");
  std::string key;
  for (uint64_t value = 0; file >> key >> value;) {
    if (key == name) return value;
  }
  return 0;
}

class OnADiskInGranules : public ::testing::TestWithParam<uint32_t> {};

TEST_P(OnADiskInGranules, BlocksOfAStreamAreReadAhead) {
  START_ON_A_DISK(GetParam());
  const Pages data(8192);
  data.store(1);
  const uint64_t before = counted("read_bytes:"), needed_before = stats_now().read_bytes;
  for (size_t page = 0; page < 512; ++page) ASSERT_EQ(data[page], 1);  // 2 MiB
  const uint64_t read = counted("read_bytes:") - before, needed = stats_now().read_bytes - needed_before;
  if (read == 0) GTEST_SKIP() << "the kernel counts no reads of a device (/proc/self/io)";
  EXPECT_GE(read, needed + kMiB);
}

TEST_P(OnADiskInGranules, NothingIsReadAheadWhereTheProgramSaysRandom) {
  START_ON_A_DISK(GetParam());
  const Pages data(8192);
  data.store(1);
  data.advise(RINGSIDE_MEMORY_RANDOM);
  std::mt19937 random(7);
  const uint64_t before = counted("read_bytes:"), needed_before = stats_now().read_bytes;
  for (int i = 0; i < 200; ++i) ASSERT_EQ(data[random() % data.count()], 1);
  const uint64_t read = counted("read_bytes:") - before, needed = stats_now().read_bytes - needed_before;
  EXPECT_LE(read, needed + kMiB / 2);
}

INSTANTIATE_TEST_SUITE_P(All, OnADiskInGranules, ::testing::Values(4096, 32768, 65536, 262144),
                         [](const auto& given) { return "Of" + std::to_string(given.param); });

TEST(ReadAheadPlan, PassesOverWhatIsThereAlready) {
  memory::ReadAhead ahead;
  ahead.start(false);
  uint32_t confirmed = 0;
  bool stored = false;
  EXPECT_EQ(ahead.plan(100, memory::kAdviceNormal, 64, &confirmed, &stored), 1U);
  ahead.expect(101, 1, 1, false);
  EXPECT_EQ(ahead.plan(101, memory::kAdviceNormal, 64, &confirmed, &stored), 2U);
  ahead.expect(103, 2, 2, true);
  EXPECT_EQ(ahead.plan(103, memory::kAdviceNormal, 64, &confirmed, &stored), 8U);
  EXPECT_EQ(confirmed, 1U);
  EXPECT_TRUE(stored);
  ahead.expect(120, 8, 1, false);  // one granule was read; the next sixteen were already present
  EXPECT_EQ(ahead.plan(120, memory::kAdviceNormal, 64, &confirmed, &stored), 32U);
  EXPECT_EQ(confirmed, 0U);
  EXPECT_EQ(ahead.plan(500, memory::kAdviceNormal, 64, &confirmed, &stored), 1U) << "not where a stream ended";
  EXPECT_EQ(ahead.plan(120, memory::kAdviceRandom, 64, &confirmed, &stored), 1U);
}

}  // namespace
}  // namespace ringside::testing
