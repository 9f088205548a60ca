// SPDX-License-Identifier: BSD-3-Clause
// Emulated timing of far memory, which the program or the environment requests.
#include <stdlib.h>

#include "memory/far/far_file.hpp"
#include "tests/unit/memory/arena.hpp"

namespace ringside::testing {
namespace {

class FarTiming : public ::testing::Test {
 protected:
  ~FarTiming() override {
    unsetenv("RINGSIDE_FAR_TIMING");
    ringside_memory_emulate(0, 0, 0);
  }
};

TEST_F(FarTiming, IsEmulatedIfTheEnvironmentNamesOptane) {
  {
    START_ARENA(plain, small_options());
    EXPECT_EQ(memory::far.begin_ns(), 0U);  // no transfer is timed
  }
  setenv("RINGSIDE_FAR_TIMING", "optane", 1);
  START_ARENA(arena, small_options());
  EXPECT_GT(memory::far.begin_ns(), 0U);
}

TEST_F(FarTiming, IsChosenBeforeTheStartAndKeepsTheContent) {
  ASSERT_EQ(ringside_memory_emulate(305, 4e9, 2e9), 0) << ringside_memory_error();
  {
    START_ARENA(arena, small_options());
    EXPECT_EQ(ringside_memory_emulate(0, 0, 0), -1);
    EXPECT_STREQ(ringside_memory_error(),
                 "ringside_memory_emulate: the arena has been started already; choose emulation before the start");
    auto* const words = static_cast<uint64_t*>(ringside_memory_alloc(16 * kMiB));
    for (uint64_t i = 0; i < 2 * kMiB; ++i) words[i] = i;
    for (uint64_t i = 0; i < 2 * kMiB; ++i) ASSERT_EQ(words[i], i);
  }
  EXPECT_EQ(ringside_memory_emulate(0, 0, 0), 0);
}

TEST_F(FarTiming, AnotherWordIsRefusedByStart) {
  setenv("RINGSIDE_FAR_TIMING", "floppy", 1);
  const ringside_memory_options options = small_options();
  EXPECT_EQ(ringside_memory_start(&options), -1);
  EXPECT_STREQ(ringside_memory_error(), "RINGSIDE_FAR_TIMING: found 'floppy', expected optane");
}

}  // namespace
}  // namespace ringside::testing
