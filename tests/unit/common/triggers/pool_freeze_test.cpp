// SPDX-License-Identifier: BSD-3-Clause
// The file POOL.freeze: its bytes, and what happens if it belongs to another pool or run.
#include "common/triggers/pool_freeze.hpp"

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

using testing::content_of;
using testing::TemporaryFolder;

const Id128 kPool{1, 2};
const Id128 kRun{3, 4};

PoolFreeze some_freeze() {
  return {.pool_id = to_string(kPool),
          .run_id = to_string(kRun),
          .iteration = 121,
          .step = 120,
          .commit_seq = 421,
          .trigger = "non_finite > 0",
          .unix_ns = 1700000000123456789};
}

class PoolFreezeTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string pool_ = folder_.file("x.pool");
};

TEST_F(PoolFreezeTest, ItCanBeWrittenOnADiskThatHasBecomeFull) {
  const std::string small = folder_.file("small");
  std::filesystem::create_directory(small);
  if (mount("none", small.c_str(), "tmpfs", 0, "size=256k") != 0) GTEST_SKIP() << "mounting needs root";
  const std::string pool = small + "/x.pool";
  {
    FreezeFile reserved(pool);
    EXPECT_EQ(reserved.error(), 0);
    EXPECT_FALSE(std::filesystem::exists(freeze_path(pool))) << "the pool is not frozen yet";
    std::ofstream filler(small + "/filler");
    while (filler << std::string(4096, 'x') << std::flush) {
    }
    EXPECT_EQ(FreezeFile(pool).error(), ENOSPC);
    EXPECT_EQ(reserved.write(some_freeze()), 0);
    EXPECT_EQ(read_freeze(pool)->iteration, some_freeze().iteration);
  }
  umount(small.c_str());
}

TEST_F(PoolFreezeTest, ItsBytesAreThoseOfTheDocument) {
  ASSERT_EQ(FreezeFile(pool_).write(some_freeze()), 0);
  EXPECT_EQ(content_of(pool_ + ".freeze"),
            R"({"ringside_freeze":1,"pool_id":"00000000000000010000000000000002",)"
            R"("run_id":"00000000000000030000000000000004","iteration":121,"step":120,"commit_seq":421,)"
            R"("trigger":"non_finite > 0","unix_ns":1700000000123456789})"
            "\n");
  EXPECT_EQ(testing::mode_of(pool_ + ".freeze"), 0600u);
}

TEST_F(PoolFreezeTest, IsReadAsItWasWrittenAndCanBeRemoved) {
  EXPECT_FALSE(read_freeze(pool_));
  EXPECT_FALSE(remove_freeze(pool_));
  ASSERT_EQ(FreezeFile(pool_).write(some_freeze()), 0);
  const auto read = freeze_of(pool_, kPool, kRun);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->iteration, 121u);
  EXPECT_EQ(read->step, 120u);
  EXPECT_EQ(read->commit_seq, 421u);
  EXPECT_EQ(read->trigger, "non_finite > 0");
  EXPECT_TRUE(remove_freeze(pool_));
  EXPECT_FALSE(read_freeze(pool_));
}

TEST_F(PoolFreezeTest, EveryNameOfThePoolLeadsToIt) {
  folder_.write("x.pool", "");
  ASSERT_EQ(mkdir(folder_.file("other").c_str(), 0700), 0);
  const std::string link = folder_.file("other/link.pool");
  ASSERT_EQ(symlink(pool_.c_str(), link.c_str()), 0);
  ASSERT_EQ(FreezeFile(link).write(some_freeze()), 0);
  EXPECT_TRUE(read_freeze(pool_));
  EXPECT_TRUE(remove_freeze(pool_));
  EXPECT_FALSE(read_freeze(link));
}

TEST_F(PoolFreezeTest, OneOfAnotherPoolOrRunDoesNotCount) {
  ASSERT_EQ(FreezeFile(pool_).write(some_freeze()), 0);
  EXPECT_FALSE(freeze_of(pool_, Id128{1, 3}, kRun));
  EXPECT_FALSE(freeze_of(pool_, kPool, Id128{3, 5}));
  EXPECT_TRUE(freeze_of(pool_, kPool, kRun));
}

TEST_F(PoolFreezeTest, WhatCannotBeUnderstoodIsDamageAndNotNothing) {
  for (const char* content : {"", "{}", "[1]", "{\"ringside_freeze\": 2}", "{\"ringside_freeze\": 1}", "\xff\xfe",
                              "{\"ringside_freeze\":1,\"pool_id\":1,\"run_id\":\"\",\"iteration\":1,\"step\":1,"
                              "\"commit_seq\":1,\"trigger\":\"\",\"unix_ns\":1}"}) {
    folder_.write("x.pool.freeze", content);
    SCOPED_TRACE(content);
    expect_refused([&] { read_freeze(pool_); }, "ringside thaw", ExitCode::kDamaged);
  }
  folder_.write("x.pool.freeze", std::string(1 << 20, ' '));
  EXPECT_NE(failure_line([&] { read_freeze(pool_); }, ExitCode::kDamaged), "");
}

TEST_F(PoolFreezeTest, AFolderOfThatNameIsRefused) {
  ASSERT_EQ(mkdir((pool_ + ".freeze").c_str(), 0700), 0);
  EXPECT_NE(failure_line([&] { read_freeze(pool_); }, ExitCode::kSystem), "");
}

}  // namespace
}  // namespace ringside
