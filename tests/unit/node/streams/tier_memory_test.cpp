// SPDX-License-Identifier: BSD-3-Clause
// Arrays in DRAM and in a folder, and the tiers that are refused. Also tests that no file remains.
#include "node/streams/tier_memory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/unit/as_nobody.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using testing::TemporaryFolder;

std::string memory_refusal(const std::string& folder, ExitCode code = ExitCode::kUsage) {
  return failure_line([&] { (void)folder_tier(folder, "--memory"); }, code);
}

TEST(TierMemory, DramIsZeroAndAlignedToHugePages) {
  const TierMemory memory(dram_tier(), 1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % (2 << 20), 0U);
  EXPECT_GE(memory.bytes(), 1000U);
  EXPECT_EQ(memory.data()[0], 0);
  memory.data()[124] = 1;
}

TEST(TierMemory, AFolderGivesMemoryAndKeepsNoFile) {
  const TemporaryFolder folder;
  const Tier tier = folder_tier(folder.path(), "--memory");
  EXPECT_EQ(tier.name, folder.path());
  EXPECT_NE(tier.kind, TierKind::kDram);
  {
    const std::vector<TierMemory> arrays = make_arrays(tier, 2, 1000);
    arrays[0].data()[999] = 5;
    EXPECT_EQ(arrays[1].data()[999], 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TierMemory, AFileIsNoFolder) {
  const TemporaryFolder folder;
  expect_has(memory_refusal(folder.write("file", "x")), {"which is not a folder; expected a folder"});
}

TEST(TierMemory, AMissingFolderIsRefusedWithExitCode2) {
  const TemporaryFolder folder;
  EXPECT_NE(memory_refusal(folder.file("none")), "");
}

TEST(TierMemory, AFolderWithoutPermissionIsRefusedWithExitCode3) {
  const TemporaryFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
  const testing::AsNobody nobody;
  expect_has(memory_refusal(folder.path(), ExitCode::kSystem), {"cannot make a file: Permission denied"});
}

TEST(TierMemory, TooMuchIsRefusedWithTheNeededAndTheAvailableBytes) {
  const TemporaryFolder folder;
  constexpr std::uint64_t kMuch = std::uint64_t{1} << 60;
  for (const Tier& tier : {dram_tier(), folder_tier(folder.path(), "--memory")}) {
    expect_has(failure_line([&] { const TierMemory memory(tier, kMuch); }, ExitCode::kSystem),
               {tier.name + ": 1152921504606846976 bytes are needed, "});
  }
}

}  // namespace
}  // namespace ringside
