// SPDX-License-Identifier: BSD-3-Clause
// The options that `start` accepts, and its messages about others.
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
  EXPECT_PRED_FORMAT2(::testing::IsSubstring, said, ringside_memory_error());
}

TEST(Start, EachBadOptionIsNamedWithWhatWouldBeAccepted) {
  using Options = ringside_memory_options;
  const auto refused = [](auto Options::*field, auto value, const char* said) {
    Options options = small_options();
    options.*field = value;
    expect_refused(options, EINVAL, said);
  };
  refused(&Options::granule_bytes, 5000U, "granule_bytes is 5000, expected 0 or a power of two from 4096 to 1048576");
  refused(&Options::faults, 3U, "faults is 3");
  refused(&Options::dram_bytes, 4096U, "dram_bytes is 4096, expected 1048576 to ");
  refused(&Options::dram_bytes, uint64_t{1} << 60, "the memory ");
  refused(&Options::granule_bytes, 1048576U, "at least 16 granules");
  refused(&Options::far_bytes, uint64_t{1} << 60, "at most 8 TiB");
  refused(&Options::far_folder, nullptr, "far_folder is NULL");
  refused(&Options::struct_bytes, 4U, "struct_bytes");
}

TEST(Start, AMissingOrUnsuitableFolderIsNamed) {
  { START_ARENA(arena, small_options()); }
  expect_refused(small_options("/nowhere/at/all"), ENOENT, "/nowhere/at/all");
  expect_refused(Way{}.in("/nowhere/at/all", 0), ENOENT, "/nowhere/at/all");
  expect_refused(small_options("/proc"), geteuid() == 0 ? EOPNOTSUPP : EACCES, "/proc");
}

TEST(Start, ASecondStartIsRefusedAndStartAfterStopWorks) {
  for (int round = 0; round < 3; ++round) {
    START_ARENA(arena, small_options());
    expect_refused(small_options(), EALREADY, "has been started");
  }
  EXPECT_EQ(ringside_memory_stop(), -1);
  EXPECT_EQ(ringside_memory_alloc(10), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

// A page that the kernel shares (KSM) cannot be moved. Before the library prevented such sharing, a service with
// MemoryKSM=yes hung. With AddressSanitizer the kernel would look through terabytes of shadow memory, for minutes.
TEST(Start, NoMemoryWhosePagesAreMovedIsSharedByTheKernel) {
  constexpr int kMergeAll = 67;  // PR_SET_MEMORY_MERGE, since Linux 6.4
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the release build makes this test";
#endif
  if (prctl(kMergeAll, 1, 0, 0, 0) != 0) GTEST_SKIP() << "this kernel shares no memory at a process's wish";
  START_ARENA(arena, small_options());
  std::ifstream mappings("/proc/self/smaps");
  size_t ours = 0;
  for (std::string line; std::getline(mappings, line);) {
    if (line.rfind("VmFlags:", 0) != 0 || line.find(" um") == std::string::npos) continue;  // no userfaultfd watches it
    ++ours;
    EXPECT_EQ(line.find(" mg"), std::string::npos) << line;
  }
  EXPECT_GT(ours, 1u);
  prctl(kMergeAll, 0, 0, 0, 0);
}

TEST(Start, WithoutASizeFarMemoryIsWhatTheFileSystemHasFree) {
  START_ARENA(arena, Way{}.in("/dev/shm", 0));
  EXPECT_GT(stats_now().far_limit_bytes, 0u);
}

}  // namespace
}  // namespace ringside::testing
