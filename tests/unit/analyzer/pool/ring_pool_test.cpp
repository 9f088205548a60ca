// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/ring_pool.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libpmemobj.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "analyzer/ring/ring_writer.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/ring/ring_recovery.hpp"
#include "tests/unit/analyzer/pool/replaced_fsync.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/lowered_limit.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

/// Overwrites bytes of a closed file.
void write_at(const std::filesystem::path& path, std::uint64_t offset, const void* data, std::size_t bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

/// Sets an environment variable while this object exists.
class WithEnvironment {
 public:
  WithEnvironment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~WithEnvironment() { unsetenv(name_); }

 private:
  const char* name_;
};

class RingPoolTest : public ::testing::Test {
 protected:
  /// A small pool.
  RingPool create() const { return RingPool::create(path_, RingShape::x_only(100), 3); }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.file("x");
};

TEST_F(RingPoolTest, WhatWasCommittedIsThereAfterReopening) {
  constexpr std::uint64_t kRows = 50'000;
  {
    const RingPool pool = RingPool::create(path_, RingShape::x_only(kRows), 4);
    RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kPower);
    begin_x_only(writer, run_of(kRows));
    for (std::uint64_t k = 1; k <= 6; ++k) {
      commit_iterate(writer, k, kRows);
    }
    EXPECT_EQ(writer.finish(), 0);
    EXPECT_EQ(writer.persisted(), 6u);
  }
  const RingPool pool = RingPool::open(path_);
  const Recovery recovery = recover(pool.ring());
  ASSERT_EQ(recovery.kept.size(), 4u);
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto& [slot, header] = recovery.kept[i];
    EXPECT_EQ(header.iteration, i + 3);
    EXPECT_TRUE(check_payload(pool.ring(), slot, header).intact());
    EXPECT_EQ(std::memcmp(pool.ring().payload(slot), iterate(i + 3, kRows).data(), kRows * 8), 0);
  }
}

TEST_F(RingPoolTest, EverythingLiesWhereReadersExpectIt) {
  for (const std::uint64_t rows : {1u, 32'768u, 300'000u}) {
    for (const std::uint32_t slots : {3u, 8u, 33u}) {
      const auto path = folder_.file(fmt::format("{}-{}", rows, slots));
      const RingPool pool = RingPool::create(path, RingShape::x_only(rows), slots);
      const RingGeometry& geometry = pool.ring().geometry();
      EXPECT_EQ(geometry.slot_count(), slots);
      EXPECT_EQ(geometry.file_bytes, std::filesystem::file_size(path));
      EXPECT_EQ(geometry.file_bytes, RingPool::file_bytes(RingShape::x_only(rows), slots));
      const std::uint64_t alignment = rows == 300'000u ? 2 << 20 : 4096;
      for (const SlotPlace& place : geometry.slots) EXPECT_EQ(place.payload_offset % alignment, 0u);
      for (std::uint64_t offset : geometry.superblock_offset) EXPECT_LT(offset, 16u << 20);
      std::filesystem::remove(path);
    }
  }
}

TEST_F(RingPoolTest, ManySmallSlotsTakeLittleMoreThanTheirBytes) {
  EXPECT_LE(RingPool::file_bytes(RingShape::x_only(134), kMaxSlots), 64u << 20);  // most of it is for two run tables
  const RingPool pool = RingPool::create(path_, RingShape::x_only(134), kMaxSlots);
  const RingGeometry& geometry = pool.ring().geometry();
  EXPECT_EQ(geometry.slot_count(), kMaxSlots);
  EXPECT_EQ(geometry.file_bytes, std::filesystem::file_size(path_));
}

TEST_F(RingPoolTest, OnlyTheOwnerMayReadIt) {
  for (const mode_t mask : {mode_t{0}, mode_t{0277}}) {
    const mode_t before = umask(mask);
    const auto path = folder_.file(fmt::format("{}.pool", mask));
    { const RingPool pool = RingPool::create(path, RingShape::x_only(100), 3); }
    umask(before);
    EXPECT_EQ(testing::mode_of(path), 0600u);
  }
}

TEST_F(RingPoolTest, ACopyThatOthersMayReadBecomesItsOwnersAlone) {
  { const RingPool pool = create(); }
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  const RingPool pool = RingPool::open(path_);
  EXPECT_EQ(testing::mode_of(path_), 0600u);
}

TEST_F(RingPoolTest, ANewPoolAndItsNameSurvivePowerLoss) {
  folders_synced = files_synced = 0;
  { const RingPool pool = create(); }
  EXPECT_GE(files_synced, 1);
  EXPECT_GE(folders_synced, 1);
  folders_synced = 0;
  const RingPool pool = RingPool::replace(path_, RingPool::open(path_), RingShape::x_only(200), 3);
  EXPECT_GE(folders_synced, 1) << "the new name of the file counts";
}

TEST_F(RingPoolTest, AnExistingFileIsLeftAlone) {
  std::ofstream(path_) << "precious";
  expect_refused([&] { create(); }, "exists already");
  EXPECT_EQ(std::filesystem::file_size(path_), 8u);
}

TEST_F(RingPoolTest, ImpossibleShapesAreRefused) {
  expect_refused([&] { RingPool::create(path_, RingShape::x_only(100), 2); }, "3 to 1024");
  expect_refused([&] { RingPool::create(path_, RingShape::x_only(100), 1025); }, "3 to 1024");
  expect_refused([&] { RingPool::create(path_, RingShape::x_only(0), 3); }, "shape (0)");
  expect_refused([&] { RingPool::create(path_, RingShape::x_only(std::uint64_t{1} << 31), 3); }, "17167289216");
  expect_refused([&] { RingPool::create(path_, RingShape::x_only(~std::uint64_t{0}), 3); }, "17167289216");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(RingPoolTest, IteratesOfManyGibibytesAreSpreadOverZones) {
  // Eight iterates of 7 GiB; two of them fit into one zone of just under 16 GiB.
  const std::uint64_t bytes = RingPool::file_bytes(RingShape::x_only(std::uint64_t{7} << 27), 8);
  EXPECT_GT(bytes, std::uint64_t{3} * 65528 * 262144 + (std::uint64_t{14} << 30));
  EXPECT_LT(bytes, std::uint64_t{64} << 30);
}

TEST_F(RingPoolTest, WhatIsNotAPoolIsSaidToBeNone) {
  expect_refused([&] { RingPool::open(folder_.file("missing")); }, "No such file");
  expect_refused([&] { RingPool::open(folder_.file("missing/x")); }, "No such file");
  expect_refused([&] { RingPool::open(folder_.path()); }, "directory");
  expect_refused([&] { RingPool::create(folder_.file("missing/x"), RingShape::x_only(100), 3); }, "No such file");
  std::ofstream(folder_.file("empty")).flush();
  expect_refused([&] { RingPool::open(folder_.file("empty")); }, "empty");
  std::ofstream(folder_.file("text")) << "%%MatrixMarket matrix coordinate real general\n";
  expect_refused([&] { RingPool::open(folder_.file("text")); }, "not a Ringside pool");
  std::ofstream(folder_.file("zeros")) << std::string(10'000'000, '\0');
  expect_refused([&] { RingPool::open(folder_.file("zeros")); }, "--overwrite");
}

TEST_F(RingPoolTest, APoolOfAnotherLayoutIsNotARing) {
  PMEMobjpool* other = pmemobj_create(path_.c_str(), "somebody else's", PMEMOBJ_MIN_POOL, 0600);
  ASSERT_NE(other, nullptr) << pmemobj_errormsg();
  pmemobj_close(other);
  expect_refused([&] { RingPool::open(path_); }, "not a Ringside pool");
}

TEST_F(RingPoolTest, APoolHasOneOwner) {
  const RingPool pool = create();
  expect_refused([&] { RingPool::open(path_); }, "in use", ExitCode::kSystem);
  expect_refused([&] { create(); }, "exists");
}

TEST_F(RingPoolTest, DamageIsToldFromWhatIsNotAPool) {
  const RingGeometry geometry = create().ring().geometry();
  const char noise[16] = "not what it was";

  write_at(path_, geometry.superblock_offset[0] + 64, noise, sizeof(noise));
  {
    const RingPool pool = RingPool::open(path_);  // the superblock is repaired from the other copy
    EXPECT_EQ(pool.ring().geometry().slot_count(), 3u);
  }
  write_at(path_, geometry.superblock_offset[1] + 64, noise, sizeof(noise));
  { const RingPool pool = RingPool::open(path_); }
  for (std::uint64_t offset : geometry.superblock_offset) write_at(path_, offset + 64, noise, sizeof(noise));
  expect_refused([&] { RingPool::open(path_); }, "both superblocks", ExitCode::kDamaged);
}

TEST_F(RingPoolTest, DamageInWhatIsPmdksIsDamage) {
  { const RingPool pool = create(); }
  const char noise[16] = "not what it was";
  write_at(path_, 32, noise, sizeof(noise));
  expect_refused([&] { RingPool::open(path_); }, "libpmemobj", ExitCode::kDamaged);
}

TEST_F(RingPoolTest, ATruncatedPoolIsDamage) {
  { const RingPool pool = create(); }
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) - 4096);
  expect_refused([&] { RingPool::open(path_); }, "truncated", ExitCode::kDamaged);
  std::filesystem::resize_file(path_, 65536);  // ends before its superblocks: no creation leaves so little
  expect_refused([&] { RingPool::open(path_); }, "truncated to 65536 bytes", ExitCode::kDamaged);
  expect_refused([&] { RingReader::open(path_); }, "truncated to 65536 bytes", ExitCode::kDamaged);
}

TEST_F(RingPoolTest, AnInterruptedCreationIsNamedAsSuch) {
  const RingGeometry geometry = create().ring().geometry();
  const std::uint64_t nothing = 0;
  for (std::uint64_t offset : geometry.superblock_offset)
    write_at(path_, offset + geometry.formatted_word_offset(), &nothing, 8);
  expect_refused([&] { RingPool::open(path_); }, "--overwrite");
}

TEST_F(RingPoolTest, AFullDiskIsNamedWithTheBytesItLacksAndNothingIsLeft) {
  if (mount("none", folder_.path().c_str(), "tmpfs", 0, "size=8m") != 0) {
    GTEST_SKIP() << "cannot mount a small tmpfs here: " << errno_text(errno);
  }
  expect_refused([&] { RingPool::create(path_, RingShape::x_only(1'000'000), 3); },
                 std::to_string(RingPool::file_bytes(RingShape::x_only(1'000'000), 3)), ExitCode::kSystem);
  expect_refused([&] { RingPool::create(path_, RingShape::x_only(1'000'000), 3); }, "8388608", ExitCode::kSystem);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  umount(folder_.path().c_str());
}

TEST_F(RingPoolTest, AFileSizeLimitIsNamedAndNothingIsLeft) {
  {
    const testing::LoweredLimit small(RLIMIT_FSIZE, 1 << 20);
    expect_refused([&] { RingPool::create(path_, RingShape::x_only(1000), 3); }, "1048576", ExitCode::kSystem);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(RingPoolTest, AFileThatMayNotBeOpenedIsTheSystemsFault) {
  if (geteuid() == 0) GTEST_SKIP() << "root may open everything";
  { const RingPool pool = create(); }
  chmod(path_.c_str(), 0);
  expect_refused([&] { RingPool::open(path_); }, "Permission denied", ExitCode::kSystem);
}

TEST_F(RingPoolTest, AForcedPlainFileIsRefused) {
  const WithEnvironment force("PMEM_IS_PMEM_FORCE", "1");
  expect_refused([&] { create(); }, "PMEM_IS_PMEM_FORCE");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(RingPoolTest, ThePathOverPersistentMemoryKeepsIteratesToo) {
  const WithEnvironment force("PMEM_IS_PMEM_FORCE", "1");
  const WithEnvironment allow("RINGSIDE_ALLOW_FORCED_PMEM", "1");
  {
    const RingPool pool = RingPool::create(path_, RingShape::x_only(50'000), 3);
    EXPECT_EQ(pool.storage(), Storage::kDax);
    pool.prefault();
    RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kPower);
    begin_x_only(writer, run_of(50'000));
    for (std::uint64_t k = 1; k <= 5; ++k) {
      commit_iterate(writer, k, 50'000);
      EXPECT_EQ(writer.persisted(), k);
    }
    EXPECT_EQ(writer.finish(), 0);
  }
  const RingPool pool = RingPool::open(path_);
  const Recovery recovery = recover(pool.ring());
  EXPECT_EQ(recovery.contiguous, 3u);
  EXPECT_EQ(newest_intact(pool.ring(), recovery)->header.iteration, 5u);
}

bool has_writable_tmpfs() {
  struct statfs system {};
  return statfs("/dev/shm", &system) == 0 && system.f_type == TMPFS_MAGIC && access("/dev/shm", W_OK) == 0;
}

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

/// Without AddressSanitizer, whose own memory would also be touched and cause further page faults.
__attribute__((no_sanitize("address"))) void write_to_each_page(double* payload, std::uint64_t rows) {
  for (std::uint64_t row = 0; row < rows; row += 4096 / sizeof(double)) static_cast<volatile double*>(payload)[row] = 1;
}

TEST_F(RingPoolTest, WhatWasPrefaultedIsWrittenWithoutPageFaults) {
  // On a disk's file system, pages fault again once the kernel has written them back, and the kernel chooses when.
  if (!has_writable_tmpfs()) GTEST_SKIP() << "no tmpfs at /dev/shm that may be written";
  constexpr std::uint64_t kRows = 1 << 20;  // 8 MiB
  const std::string path = "/dev/shm/ringside_prefaulted." + std::to_string(getpid());
  const RingPool pool = RingPool::create(path, RingShape::x_only(kRows), 3);
  unlink(path.c_str());
  pool.prefault();
  const long before = page_faults();
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    write_to_each_page(reinterpret_cast<double*>(pool.ring().writable_payload(slot)), kRows);
  }
  EXPECT_LT(page_faults() - before, 200) << "of 6144 pages";
}

TEST_F(RingPoolTest, OnATmpfsACommitIsPersistedWhenItReturns) {
  if (!has_writable_tmpfs()) GTEST_SKIP() << "no tmpfs at /dev/shm that may be written";
  const std::string path = "/dev/shm/ringside_persisted." + std::to_string(getpid());
  const RingPool pool = RingPool::create(path, RingShape::x_only(50'000), 8);
  unlink(path.c_str());
  EXPECT_EQ(pool.storage(), Storage::kFile);
  RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kPower);
  begin_x_only(writer, run_of(50'000));
  for (std::uint64_t k = 1; k <= 20; ++k) {
    commit_iterate(writer, k, 50'000);
    EXPECT_EQ(writer.persisted(), k);
  }
  EXPECT_EQ(writer.finish(), 0);
  EXPECT_EQ(newest_intact(pool.ring(), recover(pool.ring()))->header.iteration, 20u);
}

/// How many KiB of a file's mappings are huge pages.
std::uint64_t huge_kib_of(const std::string& file) {
  std::ifstream smaps("/proc/self/smaps");
  std::uint64_t kib = 0;
  bool of_file = false;
  for (std::string line; std::getline(smaps, line);) {
    if (line.find('-') < line.find(' ')) of_file = line.ends_with(file);
    if (of_file && line.rfind("ShmemPmdMapped:", 0) == 0) kib += std::stoull(line.substr(15));
  }
  return kib;
}

TEST_F(RingPoolTest, OnATmpfsWhatWasPrefaultedIsInHugePages) {
  if (!has_writable_tmpfs()) GTEST_SKIP() << "no tmpfs at /dev/shm that may be written";
  const std::string path = "/dev/shm/ringside_prefault." + std::to_string(getpid());
  constexpr std::size_t kHugePage = 2 << 20;
  const RingPool pool = RingPool::create(path, RingShape::x_only(3 * kHugePage / sizeof(double) - 5), 3);
  unlink(path.c_str());
  // One page is enough to find out whether the kernel makes huge pages of a tmpfs's pages.
  if (madvise(pool.ring().writable_payload(0), kHugePage, 25 /* MADV_COLLAPSE, Linux 6.1 */) != 0) {
    GTEST_SKIP() << "the kernel does not make huge pages of a tmpfs's pages: " << std::strerror(errno);
  }
  pool.prefault();
  EXPECT_EQ(huge_kib_of(path + " (deleted)"), 3 * 3 * kHugePage / 1024);
}

TEST_F(RingPoolTest, CanBeMovedWhileOpen) {
  RingPool first = create();
  const std::byte* base = first.base();
  const RingPool second = std::move(first);
  EXPECT_EQ(second.base(), base);
  EXPECT_EQ(second.ring().slot(0).state, SlotState::kEmpty);
}

}  // namespace
}  // namespace ringside
