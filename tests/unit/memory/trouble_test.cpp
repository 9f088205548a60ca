// SPDX-License-Identifier: BSD-3-Clause
// The comparison with ordinary memory by 8 threads, while far memory is full, while it fails, and while the process is
// killed. Each round is a separate process. memory_oracle (oracle_main.cpp) makes any number of rounds.
#include "tests/unit/memory/trouble.hpp"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "tests/unit/memory/apart.hpp"
#include "tests/unit/memory/arena.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside::testing {
namespace {

OracleRun run_of(uint64_t operations, uint64_t seed) {
  OracleRun run;
  run.threads = 8;
  run.operations = kSanitized ? operations / 5 : operations;
  run.seed = seed;
  return run;
}

/// Runs `act` in a process with a separate file system. Returns the error that `act` reports, or the reason why it
/// could not run.
Round with_mount(const std::function<std::string()>& mount, const std::function<Round()>& act) {
  const Ending ending = in_process([&] {
    Round round;
    round.skipped = mount();
    if (round.skipped.empty()) round = act();
    const std::string& line = round.skipped.empty() ? round.wrong : round.skipped;
    const bool said = write(2, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    return !said ? 2 : !round.skipped.empty() ? 77 : line.empty() ? 0 : 1;
  });
  Round round;
  if (ending.signal == 0 && ending.code == 77) {
    round.skipped = ending.lines;
  } else if (ending.signal != 0 || ending.code != 0) {
    round.wrong =
        "signal " + std::to_string(ending.signal) + ", code " + std::to_string(ending.code) + ": " + ending.lines;
  }
  return round;
}

std::string small_tmpfs() {
  return mount_own_tmpfs(48 * kMiB);
}
std::string small_disk() {
  return mount_own_disk(64 * kMiB, 128 * kMiB);
}

/// Call after all processes have ended. Waits until a folder's file system has its free space again, and reports files
/// that are left.
std::string left_in(const char* folder, uint64_t free_before) {
  // A worker of the kernel may release the last reference to a file later.
  while (std::filesystem::space(folder).free < free_before) sched_yield();  // in_process ends an endless wait
  return std::filesystem::is_empty(folder) ? "" : "; something was left in the folder";
}

#define EXPECT_AS_PROMISED(round)                              \
  do {                                                         \
    const Round& ended = (round);                              \
    if (!ended.skipped.empty()) GTEST_SKIP() << ended.skipped; \
    EXPECT_EQ(ended.wrong, "");                                \
  } while (false)

// --- far memory is full

struct FullCase {
  const char* name;
  uint64_t far_bytes;
  Way way;
};

class FullFarMemory : public ::testing::TestWithParam<FullCase> {
 protected:
  static Round compare(const char* folder) {
    const uint64_t free_before = std::filesystem::space(folder).free;
    // Whether an allocation finds the file system full is random, so rounds are made until one does.
    Round round;
    for (uint64_t seed = 1; seed <= 20 && round.refused == 0 && round.wrong.empty(); ++seed) {
      round = round_with(Trouble::kFull, GetParam().way.in(folder, GetParam().far_bytes), run_of(1000, seed));
      if (!round.skipped.empty()) return round;
    }
    if (round.wrong.empty() && round.refused == 0) round.wrong = "nothing was refused in 20 rounds";
    round.wrong += left_in(folder, free_before);
    return round;
  }
};

TEST_P(FullFarMemory, RefusesAllocationsAndKeepsWhatIsAllocated) {
  EXPECT_AS_PROMISED(with_mount(small_tmpfs, [] { return compare(kOwnFolder); }));
}

TEST_P(FullFarMemory, OnADiskRefusesAllocationsAndKeepsWhatIsAllocated) {
  EXPECT_AS_PROMISED(with_mount(small_disk, [] { return compare(kOwnDiskFolder); }));
}

INSTANTIATE_TEST_SUITE_P(
    All, FullFarMemory,
    ::testing::Values(FullCase{"Signal", 256 * kMiB, {1, 0, 0}}, FullCase{"SignalWithLimit", 44 * kMiB, {1, 0, 0}},
                      FullCase{"Signal64K", 256 * kMiB, {1, 0, 65536}}, FullCase{"InPlace", 256 * kMiB, {1, 0, 0, 1}},
                      FullCase{"Thread", 256 * kMiB, {2, 0, 0}}, FullCase{"Copy", 256 * kMiB, {1, 1, 0}}),
    [](const auto& given) { return std::string(given.param.name); });

// --- far memory fails

struct FailingCase {
  const char* name;
  Trouble trouble;
  Way way = {};
};

class FailingFarMemory : public ::testing::TestWithParam<FailingCase> {};

TEST_P(FailingFarMemory, EndsTheProcessWithOneLineBeforeAnythingIsLost) {
  EXPECT_AS_PROMISED(round_with(GetParam().trouble, GetParam().way.in("/var/tmp", 128 * kMiB), run_of(1600, 1)));
}

INSTANTIATE_TEST_SUITE_P(
    All, FailingFarMemory,
    ::testing::Values(FailingCase{"Reads", Trouble::kReadsFail}, FailingCase{"Writes", Trouble::kWritesFail},
                      FailingCase{"Orders", Trouble::kOrdersFail}, FailingCase{"Events", Trouble::kEventsFail},
                      FailingCase{"LateWrites", Trouble::kLateWritesFail}, FailingCase{"Holes", Trouble::kHolesFail},
                      FailingCase{"ReadsThread", Trouble::kReadsFail, {2}},
                      FailingCase{"LateWritesThread", Trouble::kLateWritesFail, {2}},
                      FailingCase{"ReadsCopy64K", Trouble::kReadsFail, {1, 1, 65536}},
                      FailingCase{"LateWrites64K", Trouble::kLateWritesFail, {1, 0, 65536}},
                      FailingCase{"LateWritesCopy", Trouble::kLateWritesFail, {1, 1}}),
    [](const auto& given) { return std::string(given.param.name); });

// The thread that owns the granule of the failed read never continues, so the handler of SIGABRT would wait for ever.
TEST(FailingFarMemory, EndsAProcessWhoseHandlerOfSigabrtTouchesIt) {
  static volatile char* memory;
  for (const uint32_t faults : {1u, 2u}) {
    const Ending ending = in_process([faults] {
      const ringside_memory_options options = Way{faults}.in("/var/tmp", 32 * kMiB);
      if (ringside_memory_start(&options) != 0) return 77;
      constexpr size_t kBytes = 16 * kMiB;
      memory = static_cast<volatile char*>(ringside_memory_alloc(kBytes));
      for (size_t at = 0; at < kBytes; at += 4096) memory[at] = 1;
      signal(SIGABRT, [](int) {
        for (size_t at = 0; at < kBytes; at += 4096) static_cast<void>(memory[at]);
      });
      if (!fail_calls({SYS_pread64}, EIO)) return 77;
      for (size_t at = 0; at < kBytes; at += 4096) static_cast<void>(memory[at]);
      return 1;
    });
    if (ending.signal == 0 && ending.code == 77) GTEST_SKIP() << "not permitted: " << ending.lines;
    EXPECT_EQ(ending.signal, SIGABRT) << "faults " << faults << ", code " << ending.code << ": " << ending.lines;
    EXPECT_EQ(ending.count(), 1U) << ending.lines;
  }
}

TEST(FailingDevice, EndsTheProcessWithOneLineBeforeAnythingIsLost) {
  EXPECT_AS_PROMISED(with_mount(
      [] { return mount_own_disk(128 * kMiB, 96 * kMiB); },
      [] { return round_with(Trouble::kDeviceIsFull, Way{}.in(kOwnDiskFolder, 100 * kMiB), run_of(1600, 1)); }));
}

// --- the process is killed

Round kill_several(const char* folder) {
  const uint64_t free_before = std::filesystem::space(folder).free;
  Round round;
  for (uint64_t seed = 1; seed <= 4 && round.wrong.empty() && round.skipped.empty(); ++seed) {
    const Way way = {seed % 2 == 0 ? 2U : 1U, 0, 0, seed == 3 && folder == kOwnFolder ? 1U : 0U};
    round = round_with(Trouble::kKilled, way.in(folder, 256 * kMiB), run_of(1000, seed));
    round.wrong += left_in(folder, free_before);
  }
  // The next process can use the whole folder.
  if (round.wrong.empty() && round.skipped.empty())
    round = round_with(Trouble::kNone, Way{}.in(folder, 128 * kMiB), run_of(300, 9));
  return round;
}

TEST(KilledProcess, LeavesNothingInAFolderOfTmpfs) {
  EXPECT_AS_PROMISED(with_mount([] { return mount_own_tmpfs(192 * kMiB); }, [] { return kill_several(kOwnFolder); }));
}

TEST(KilledProcess, LeavesNothingInAFolderOnADisk) {
  EXPECT_AS_PROMISED(with_mount([] { return mount_own_disk(192 * kMiB, 256 * kMiB); },
                                [] { return kill_several(kOwnDiskFolder); }));
}

}  // namespace
}  // namespace ringside::testing
