// SPDX-License-Identifier: BSD-3-Clause
// What start accepts, and the line for what it does not.
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/memory/arena.hpp"

namespace ringside::testing {
namespace {

void expect_refused(const ringside_memory_options& options, int error, const std::string& said) {
  errno = 0;
  ASSERT_EQ(ringside_memory_start(&options), -1);
  EXPECT_EQ(errno, error);
  const std::string line = ringside_memory_error();
  EXPECT_NE(line.find(said), std::string::npos) << line;
}

TEST(Start, EachBadOptionIsNamedWithWhatWouldBeAccepted) {
  ringside_memory_options options = small_options();
  options.granule_bytes = 5000;
  expect_refused(options, EINVAL, "granule_bytes is 5000, expected 0 or a power of two from 4096 to 1048576");
  options = small_options();
  options.faults = 3;
  expect_refused(options, EINVAL, "faults is 3");
  options = small_options();
  options.dram_bytes = 4096;
  expect_refused(options, EINVAL, "dram_bytes is 4096, expected 1048576 to ");
  options.dram_bytes = uint64_t{1} << 60;
  expect_refused(options, EINVAL, "the memory ");
  options = small_options();
  options.granule_bytes = 1048576;
  expect_refused(options, EINVAL, "at least 16 granules");
  options = small_options();
  options.far_bytes = uint64_t{1} << 60;
  expect_refused(options, EINVAL, "at most 8 TiB");
  options = small_options();
  options.far_folder = nullptr;
  expect_refused(options, EINVAL, "far_folder is NULL");
  options = small_options();
  options.struct_bytes = 4;
  expect_refused(options, EINVAL, "struct_bytes");
}

TEST(Start, AMissingOrUnsuitableFolderIsNamed) {
  { START_ARENA(arena, small_options()); }
  ringside_memory_options options = small_options();
  options.far_folder = "/nowhere/at/all";
  expect_refused(options, ENOENT, "/nowhere/at/all");
  options.far_bytes = 0;
  expect_refused(options, ENOENT, "/nowhere/at/all");
  options = small_options();
  options.far_folder = "/proc";
  expect_refused(options, geteuid() == 0 ? EOPNOTSUPP : EACCES, "/proc");
}

TEST(Start, ASecondStartIsRefusedAndStartAfterStopWorks) {
  for (int round = 0; round < 3; ++round) {
    START_ARENA(arena, small_options());
    const ringside_memory_options options = small_options();
    expect_refused(options, EALREADY, "is started");
  }
  EXPECT_EQ(ringside_memory_stop(), -1);
  EXPECT_EQ(ringside_memory_alloc(10), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

// A page that the kernel shares (KSM) cannot be moved: a service with MemoryKSM=yes hung.
TEST(Start, NoMemoryWhosePagesAreMovedIsSharedByTheKernel) {
  constexpr int kMergeAll = 67;  // PR_SET_MEMORY_MERGE, since Linux 6.4
  if (prctl(kMergeAll, 1, 0, 0, 0) != 0) GTEST_SKIP() << "this kernel shares no memory at a process's wish";
  START_ARENA(arena, small_options());
  std::ifstream mappings("/proc/self/smaps");
  size_t ours = 0;
  for (std::string line; std::getline(mappings, line);) {
    if (line.rfind("VmFlags:", 0) != 0 || line.find(" um") == std::string::npos) continue;  // not a userfaultfd's
    ++ours;
    EXPECT_EQ(line.find(" mg"), std::string::npos) << line;
  }
  EXPECT_GT(ours, 1u);
  prctl(kMergeAll, 0, 0, 0, 0);
}

TEST(Start, WithoutASizeFarMemoryIsWhatTheFileSystemHasFree) {
  ringside_memory_options options = small_options();
  options.far_bytes = 0;
  START_ARENA(arena, options);
  EXPECT_GT(stats_now().far_limit_bytes, 0u);
}

}  // namespace
}  // namespace ringside::testing
