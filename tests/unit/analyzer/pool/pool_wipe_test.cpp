// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/pool_wipe.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <random>

#include "analyzer/pool/ring_pool.hpp"
#include "tests/unit/analyzer/pool/offered_run.hpp"
#include "tests/unit/analyzer/pool/replaced_fsync.hpp"
#include "tests/unit/as_nobody.hpp"
#include "tests/unit/child_process.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/lowered_limit.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr std::uint64_t kWipedRows = 300'000;

std::string contents(int fd) {
  std::string bytes(static_cast<std::size_t>(lseek(fd, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(fd, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  return bytes;
}

using testing::content_of;

bool is_zero(const std::string& bytes) {
  return bytes.empty() || (bytes[0] == 0 && std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0);
}

class PoolWipeTest : public ::testing::Test {
 protected:
  PoolWipeTest() { make_pool(); }

  void make_pool() const { ringside::make_pool(path_, 3, run_of(kWipedRows), 3, Durability::kPower); }

  void overwrite(std::uint64_t offset, const void* data, std::size_t bytes) const {
    const UniqueFd fd(open(path_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(pwrite(fd.get(), data, bytes, static_cast<off_t>(offset)), static_cast<ssize_t>(bytes));
  }

  void wipe() const {
    PoolWipe wipe(path_);
    wipe.overwrite([](std::uint64_t) {});
    wipe.remove();
  }

  /// Wipes the file, and checks its bytes through a descriptor that outlives the file's name.
  void expect_wiped() const {
    const UniqueFd fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_NO_THROW(wipe());
    EXPECT_TRUE(is_zero(contents(fd.get())));
    EXPECT_FALSE(std::filesystem::exists(path_));
  }

  void expect_refused(ExitCode code, const std::string& fragment) const {
    const std::string before = content_of(path_);
    ringside::expect_refused([&] { PoolWipe wipe(path_); }, fragment, code);
    EXPECT_EQ(content_of(path_) == before, true) << "something was changed";
  }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.file("x.pool");
};

TEST_F(PoolWipeTest, NothingOfAnIterateIsLeftInTheFile) {
  const std::vector<double> x = iterate(3, kWipedRows);
  const std::string before = content_of(path_);
  ASSERT_NE(memmem(before.data(), before.size(), x.data(), kWipedRows * sizeof(double)), nullptr);
  expect_wiped();
}

TEST_F(PoolWipeTest, ProgressGrowsToTheWholeFile) {
  PoolWipe wipe(path_);
  std::uint64_t last = 0;
  wipe.overwrite([&](std::uint64_t done) {
    EXPECT_GT(done, last);
    last = done;
    EXPECT_TRUE(std::filesystem::exists(path_)) << "deleted before everything was overwritten";
  });
  EXPECT_EQ(last, std::filesystem::file_size(path_));
  EXPECT_EQ(last, wipe.bytes());
}

TEST_F(PoolWipeTest, APoolInUseIsRefused) {
  const RingPool owner = RingPool::open(path_);
  expect_refused(ExitCode::kSystem, "in use");
}

TEST_F(PoolWipeTest, NobodyComesToUseAPoolThatIsBeingWiped) {
  const PoolWipe wipe(path_);
  EXPECT_THROW(RingPool::open(path_), Error);
  EXPECT_THROW(PoolWipe{path_}, Error);
}

TEST_F(PoolWipeTest, WhatIsNoPoolOfOursIsRefused) {
  std::ofstream(path_) << "somebody's letter\n";
  expect_refused(ExitCode::kUsage, "not a Ringside pool");
  std::ofstream(path_).flush();
  expect_refused(ExitCode::kUsage, "not a Ringside pool");
  std::string other(100'000, '\0');
  other.replace(0, 7, "PMEMOBJ");
  other.replace(4096, 14, "somebody else's", 14);
  other[50'000] = 'x';
  std::ofstream(path_, std::ios::binary) << other;
  expect_refused(ExitCode::kUsage, "not a Ringside pool");
  EXPECT_THROW(PoolWipe{folder_.file("missing")}, Error);
  EXPECT_THROW(PoolWipe{folder_.path()}, Error);
}

TEST_F(PoolWipeTest, DamagedUnfinishedAndNewerPoolsCanBeWiped) {
  const RingGeometry shape = RingPool::open(path_).ring().geometry();
  const char noise[16] = "not what it was";
  const auto spoil_superblocks = [&] {
    for (const std::uint64_t offset : shape.superblock_offset) overwrite(offset, noise, sizeof noise);
  };
  spoil_superblocks();
  expect_wiped();

  make_pool();
  overwrite(32, noise, sizeof noise);  // libpmemobj's part
  expect_wiped();

  make_pool();
  const std::uint64_t nothing = 0;
  for (const std::uint64_t offset : shape.superblock_offset) {
    overwrite(offset + shape.formatted_word_offset(), &nothing, sizeof nothing);
  }
  expect_wiped();

  make_pool();
  for (const std::uint64_t offset : shape.superblock_offset) {
    Superblock superblock;
    const UniqueFd fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    std::vector<std::byte> bytes(shape.superblock_bytes());
    ASSERT_EQ(pread(fd.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(bytes.size()));
    std::memcpy(static_cast<void*>(&superblock), bytes.data(), sizeof superblock);
    superblock.head.version = 1000;
    std::memcpy(bytes.data(), &superblock, sizeof superblock);
    superblock.head.hash = superblock_hash(bytes.data(), bytes.size());
    overwrite(offset, &superblock, sizeof superblock);
  }
  EXPECT_THROW(RingPool::open(path_), Error);
  expect_wiped();

  std::ofstream(path_, std::ios::binary) << std::string(10'000, '\0');  // a creation that had just begun
  expect_wiped();
}

TEST_F(PoolWipeTest, AWipeThatIsKilledAnywhereCanBeDoneAgain) {
  int killed = 0;
  for (int syncs = 0;; ++syncs) {
    if (!std::filesystem::exists(path_)) make_pool();
    const int status = testing::status_of_child([&] {
      syncs_until_killed = syncs;
      wipe();
      return 0;
    });
    if (status == 0) break;
    ASSERT_EQ(WTERMSIG(status), SIGKILL);
    ++killed;
    if (std::filesystem::exists(path_)) expect_wiped();  // the last sync, of the folder, follows the deletion
  }
  EXPECT_GE(killed, 6) << "parts, head, first word, folder";
}

TEST_F(PoolWipeTest, AWipeThatLostPowerWithinTheHeadCanBeDoneAgain) {
  // Everything after the head is wiped and synced; in the head, any sectors may be wiped.
  constexpr std::size_t kHead = 8192;
  constexpr std::size_t kSector = 512;
  const std::string before = content_of(path_);
  std::mt19937_64 random(20);
  for (int image = 0; image < 24; ++image) {
    std::string bytes(before.size(), '\0');
    bytes.replace(0, kHead, before, 0, kHead);
    for (std::size_t sector = 0; sector < kHead; sector += kSector) {
      const std::size_t first = sector == 0 ? 8 : sector;
      if (random() % 2 == 0) bytes.replace(first, sector + kSector - first, sector + kSector - first, '\0');
    }
    std::ofstream(path_, std::ios::binary) << bytes;
    expect_wiped();
  }
}

TEST_F(PoolWipeTest, AFolderThatMayNotBeWrittenIsKnownBeforeAnythingIsOverwritten) {
  chmod(folder_.path().c_str(), 0555);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(path_.c_str(), testing::kNobody, testing::kNobody), 0);
  }
  {
    const testing::AsNobody nobody;
    expect_refused(ExitCode::kSystem, "nothing was wiped");
  }
  chmod(folder_.path().c_str(), 0700);
}

TEST_F(PoolWipeTest, AFileThatCannotBeOverwrittenKeepsItsName) {
  {
    PoolWipe wipe(path_);
    const testing::LoweredLimit middle(RLIMIT_FSIZE, 12 << 20);
    EXPECT_THROW(wipe.overwrite([](std::uint64_t) {}), Error);
  }
  expect_wiped();
}

TEST_F(PoolWipeTest, BehindASymbolicLinkTheFileIsWipedAndBothNamesGo) {
  const std::string link = folder_.file("link");
  std::filesystem::create_symlink(path_, link);
  const UniqueFd fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  PoolWipe wipe(link);
  wipe.overwrite([](std::uint64_t) {});
  wipe.remove();
  EXPECT_TRUE(is_zero(contents(fd.get())));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(PoolWipeTest, OtherNamesOfTheFileAreCounted) {
  std::filesystem::create_hard_link(path_, folder_.file("other"));
  EXPECT_THROW(PoolWipe(path_).bytes(), Error) << "another name may be the one that is meant";
  PoolWipe wipe(path_, Foreign::kAllowed);
  EXPECT_EQ(wipe.other_names(), 1u);
  wipe.overwrite([](std::uint64_t) {});
  wipe.remove();
  EXPECT_TRUE(is_zero(content_of(folder_.file("other"))));
}

}  // namespace
}  // namespace ringside
