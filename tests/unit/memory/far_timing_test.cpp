// SPDX-License-Identifier: BSD-3-Clause
// Emulated far memory: what a transfer takes at least, and that faults wait for it. Only lower limits are judged.
#include "memory/far/far_timing.hpp"

#include <stdlib.h>

#include "tests/unit/memory/arena.hpp"

namespace ringside::testing {
namespace {

class FarTimingTest : public ::testing::Test {
 protected:
  ~FarTimingTest() override {
    memory::far_timing = {};
    unsetenv("RINGSIDE_FAR_TIMING");
  }
};

TEST_F(FarTimingTest, AReadHasItsLatencyAndBothHaveTheirRate) {
  ASSERT_EQ(ringside_memory_emulate(305, 4e9, 2e9), 0);
  EXPECT_TRUE(memory::far_timing.emulated);
  EXPECT_EQ(memory::far_timing.least_ns(4096, false), 305U + 1024);
  EXPECT_EQ(memory::far_timing.least_ns(4096, true), 2048U);
}

TEST_F(FarTimingTest, TheEnvironmentNamesOptaneOrIsRefused) {
  setenv("RINGSIDE_FAR_TIMING", "", 1);
  EXPECT_EQ(memory::far_timing.from_environment(), 0);
  EXPECT_FALSE(memory::far_timing.emulated);
  setenv("RINGSIDE_FAR_TIMING", "optane", 1);
  EXPECT_EQ(memory::far_timing.from_environment(), 0);
  EXPECT_EQ(memory::far_timing.least_ns(0, false), 305U);
  setenv("RINGSIDE_FAR_TIMING", "floppy", 1);
  EXPECT_EQ(memory::far_timing.from_environment(), -1);
  EXPECT_STREQ(ringside_memory_error(), "RINGSIDE_FAR_TIMING: found 'floppy', expected optane");
}

TEST_F(FarTimingTest, FiguresThatAreNoneAreRefused) {
  EXPECT_EQ(ringside_memory_emulate(-1, 4e9, 2e9), -1);
  EXPECT_EQ(ringside_memory_emulate(305, 0, 2e9), -1);
  EXPECT_EQ(ringside_memory_emulate(305, 4e9, -2), -1);
  EXPECT_FALSE(memory::far_timing.emulated);
}

TEST_F(FarTimingTest, FaultsWaitForEveryByteFromFarMemory) {
  ASSERT_EQ(ringside_memory_emulate(0, 1e9, 1e9), 0);  // a byte each nanosecond
  START_ARENA(arena, small_options());
  constexpr size_t kBytes = 16 * kMiB;  // four times the DRAM
  auto* const data = static_cast<unsigned char*>(ringside_memory_alloc(kBytes));
  ASSERT_NE(data, nullptr) << ringside_memory_error();
  for (size_t i = 0; i < kBytes; i += 4096) data[i] = static_cast<unsigned char>(i >> 12);
  for (size_t i = 0; i < kBytes; i += 4096) ASSERT_EQ(data[i], static_cast<unsigned char>(i >> 12));
  const struct ringside_memory_stats stats = stats_now();
  EXPECT_GT(stats.read_bytes, 0U);
  EXPECT_GE(stats.fault_ns, stats.read_bytes);
}

}  // namespace
}  // namespace ringside::testing
