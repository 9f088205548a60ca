// SPDX-License-Identifier: BSD-3-Clause
// The short form of the comparison with ordinary memory, for every combination of faults, far memory and granules.
// memory_oracle (oracle_main.cpp) is the long form.
#include "tests/unit/memory/oracle.hpp"

#include <algorithm>

#include "tests/unit/memory/arena.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside::testing {
namespace {

struct Case {
  const char* name;
  const char* far_folder;
  Way way;
};

class Oracle : public ::testing::TestWithParam<Case> {};

TEST_P(Oracle, ThreadsFindInTheArenaWhatPlainMemoryHolds) {
  ringside_memory_options options = GetParam().way.in(GetParam().far_folder, 128 * kMiB);
  options.dram_bytes = std::max<uint64_t>(4 * kMiB, uint64_t{64} * options.granule_bytes);
  START_ARENA(arena, options);
  OracleRun run;
  run.operations = kSanitized ? 300 : 1500;
  EXPECT_EQ(compare_with_plain_memory(options, run), "");
  const auto stats = stats_now();
  EXPECT_LE(stats.dram_peak_bytes, options.dram_bytes);
  EXPECT_EQ(stats.far_bytes, 0u) << "all was freed";
  EXPECT_EQ(stats.pinned_bytes, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, Oracle,
    ::testing::Values(Case{"TmpfsSignal4K", "/dev/shm", {1, 0, 0}}, Case{"TmpfsSignal64K", "/dev/shm", {1, 0, 65536}},
                      Case{"TmpfsSignal1M", "/dev/shm", {1, 0, 1048576}}, Case{"TmpfsThread4K", "/dev/shm", {2, 0, 0}},
                      Case{"TmpfsThread256K", "/dev/shm", {2, 0, 262144}},
                      Case{"TmpfsSignalCopy4K", "/dev/shm", {1, 1, 0}},
                      Case{"TmpfsThreadCopy16K", "/dev/shm", {2, 1, 16384}},
                      Case{"InPlaceSignal", "/dev/shm", {1, 0, 0, 1}}, Case{"InPlaceThread", "/dev/shm", {2, 0, 0, 1}},
                      Case{"InPlaceSignalCopy64K", "/dev/shm", {1, 1, 65536, 1}},
                      Case{"DiskSignal4K", "/var/tmp", {1, 0, 0}}, Case{"DiskSignal64K", "/var/tmp", {1, 0, 65536}},
                      Case{"DiskSignalCopy4K", "/var/tmp", {1, 1, 0}}, Case{"DiskThread4K", "/var/tmp", {2, 0, 0}},
                      Case{"DiskThreadCopy64K", "/var/tmp", {2, 1, 65536}}),
    [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace ringside::testing
