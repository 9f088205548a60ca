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
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ring/ring_writer.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "common/ring/ring_recovery.hpp"
#include "tests/unit/analyzer/pool/replaced_fsync.hpp"
#include "tests/unit/analyzer/ring/ring_in_memory.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

std::pair<ExitCode, std::string> failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "more than one line";
    return {error.code(), error.what()};
  }
  return {ExitCode::kDone, ""};
}

#define EXPECT_FAILS(action, expected_code, part)                                         \
  {                                                                                       \
    const auto [code, text] = failure_of([&] { action; });                                \
    EXPECT_EQ(static_cast<int>(code), static_cast<int>(ExitCode::expected_code)) << text; \
    EXPECT_NE(text.find(part), std::string::npos) << text;                                \
  }

/// Overwrites bytes of a closed file.
void write_at(const std::filesystem::path& path, std::uint64_t offset, const void* data, std::size_t bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

/// Sets an environment variable for as long as it lives.
class WithEnvironment {
 public:
  WithEnvironment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~WithEnvironment() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(RingPoolTest, WhatWasCommittedIsThereAfterReopening) {
  constexpr std::uint64_t kRows = 50'000;
  const testing::TemporaryFolder folder;
  const auto path = folder.file("x.pool");
  {
    const RingPool pool = RingPool::create(path, RingShape::x_only(kRows), 4);
    RingWriter writer(pool.ring(), pool.persistence(), pool.storage(), Durability::kPower);
    begin_x_only(writer, run_of(kRows));
    for (std::uint64_t k = 1; k <= 6; ++k) {
      commit_iterate(writer, k, kRows);
    }
    EXPECT_EQ(writer.finish(), 0);
    EXPECT_EQ(writer.persisted(), 6u);
  }
  const RingPool pool = RingPool::open(path);
  const Recovery recovery = recover(pool.ring());
  ASSERT_EQ(recovery.kept.size(), 4u);
  for (std::uint64_t i = 0; i < 4; ++i) {
    const auto& [slot, header] = recovery.kept[i];
    EXPECT_EQ(header.iteration, i + 3);
    EXPECT_TRUE(check_payload(pool.ring(), slot, header).intact());
    EXPECT_EQ(std::memcmp(pool.ring().payload(slot), iterate(i + 3, kRows).data(), kRows * 8), 0);
  }
}

TEST(RingPoolTest, EverythingLiesWhereReadersExpectIt) {
  const testing::TemporaryFolder folder;
  for (const std::uint64_t rows : {1u, 32'768u, 300'000u}) {
    for (const std::uint32_t slots : {3u, 8u, 33u}) {
      const auto path = folder.file(fmt::format("{}-{}", rows, slots));
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

TEST(RingPoolTest, ManySmallSlotsTakeLittleMoreThanTheirBytes) {
  const testing::TemporaryFolder folder;
  EXPECT_LE(RingPool::file_bytes(RingShape::x_only(134), kMaxSlots), 64u << 20);  // most of it are two run tables
  const RingPool pool = RingPool::create(folder.file("x"), RingShape::x_only(134), kMaxSlots);
  const RingGeometry& geometry = pool.ring().geometry();
  EXPECT_EQ(geometry.slot_count(), kMaxSlots);
  EXPECT_EQ(geometry.file_bytes, std::filesystem::file_size(folder.file("x")));
}

TEST(RingPoolTest, OnlyTheOwnerMayReadIt) {
  const testing::TemporaryFolder folder;
  for (const mode_t mask : {mode_t{0}, mode_t{0277}}) {
    const mode_t before = umask(mask);
    const auto path = folder.file(fmt::format("{}.pool", mask));
    { const RingPool pool = RingPool::create(path, RingShape::x_only(100), 3); }
    umask(before);
    struct stat status {};
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, mode_t{0600});
  }
}

TEST(RingPoolTest, ACopyThatOthersMayReadBecomesItsOwnersAlone) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.file("x.pool");
  { const RingPool pool = RingPool::create(path, RingShape::x_only(100), 3); }
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  const RingPool pool = RingPool::open(path);
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(RingPoolTest, ANewPoolAndItsNameSurvivePowerLoss) {
  const testing::TemporaryFolder folder;
  folders_synced = files_synced = 0;
  { const RingPool pool = RingPool::create(folder.file("x"), RingShape::x_only(100), 3); }
  EXPECT_GE(files_synced, 1);
  EXPECT_GE(folders_synced, 1);
  folders_synced = 0;
  const RingPool pool =
      RingPool::replace(folder.file("x"), RingPool::open(folder.file("x")), RingShape::x_only(200), 3);
  EXPECT_GE(folders_synced, 1) << "the new name of the file counts";
}

TEST(RingPoolTest, AnExistingFileIsLeftAlone) {
  const testing::TemporaryFolder folder;
  const auto path = folder.file("x");
  std::ofstream(path) << "precious";
  EXPECT_FAILS(RingPool::create(path, RingShape::x_only(100), 3), kUsage, "exists already");
  EXPECT_EQ(std::filesystem::file_size(path), 8u);
}

TEST(RingPoolTest, ImpossibleShapesAreRefused) {
  const testing::TemporaryFolder folder;
  EXPECT_FAILS(RingPool::create(folder.file("x"), RingShape::x_only(100), 2), kUsage, "3 to 1024");
  EXPECT_FAILS(RingPool::create(folder.file("x"), RingShape::x_only(100), 1025), kUsage, "3 to 1024");
  EXPECT_FAILS(RingPool::create(folder.file("x"), RingShape::x_only(0), 3), kUsage, "shape (0)");
  EXPECT_FAILS(RingPool::create(folder.file("x"), RingShape::x_only(std::uint64_t{1} << 31), 3), kUsage, "17167289216");
  EXPECT_FAILS(RingPool::create(folder.file("x"), RingShape::x_only(~std::uint64_t{0}), 3), kUsage, "17167289216");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RingPoolTest, IteratesOfManyGibibytesAreSpreadOverZones) {
  // Eight iterates of 7 GiB: two fit into a zone of just under 16 GiB.
  const std::uint64_t bytes = RingPool::file_bytes(RingShape::x_only(std::uint64_t{7} << 27), 8);
  EXPECT_GT(bytes, std::uint64_t{3} * 65528 * 262144 + (std::uint64_t{14} << 30));
  EXPECT_LT(bytes, std::uint64_t{64} << 30);
}

TEST(RingPoolTest, WhatIsNotAPoolIsSaidToBeNone) {
  const testing::TemporaryFolder folder;
  EXPECT_FAILS(RingPool::open(folder.file("missing")), kUsage, "No such file");
  EXPECT_FAILS(RingPool::open(folder.file("missing/x")), kUsage, "No such file");
  EXPECT_FAILS(RingPool::open(folder.path()), kUsage, "directory");
  EXPECT_FAILS(RingPool::create(folder.file("missing/x"), RingShape::x_only(100), 3), kUsage, "No such file");
  std::ofstream(folder.file("empty")).flush();
  EXPECT_FAILS(RingPool::open(folder.file("empty")), kUsage, "empty");
  std::ofstream(folder.file("text")) << "%%MatrixMarket matrix coordinate real general\n";
  EXPECT_FAILS(RingPool::open(folder.file("text")), kUsage, "not a Ringside pool");
  std::ofstream(folder.file("zeros")) << std::string(10'000'000, '\0');
  EXPECT_FAILS(RingPool::open(folder.file("zeros")), kUsage, "--overwrite");
}

TEST(RingPoolTest, APoolOfAnotherLayoutIsNotARing) {
  const testing::TemporaryFolder folder;
  const auto path = folder.file("x");
  PMEMobjpool* other = pmemobj_create(path.c_str(), "somebody else's", PMEMOBJ_MIN_POOL, 0600);
  ASSERT_NE(other, nullptr) << pmemobj_errormsg();
  pmemobj_close(other);
  EXPECT_FAILS(RingPool::open(path), kUsage, "not a Ringside pool");
}

TEST(RingPoolTest, APoolHasOneOwner) {
  const testing::TemporaryFolder folder;
  const auto path = folder.file("x");
  const RingPool pool = RingPool::create(path, RingShape::x_only(100), 3);
  EXPECT_FAILS(RingPool::open(path), kSystem, "in use");
  EXPECT_FAILS(RingPool::create(path, RingShape::x_only(100), 3), kUsage, "exists");
}

TEST(RingPoolTest, DamageIsToldFromWhatIsNotAPool) {
  const testing::TemporaryFolder folder;
  const auto path = folder.file("x");
  const RingGeometry geometry = RingPool::create(path, RingShape::x_only(100), 3).ring().geometry();
  const char noise[16] = "not what it was";

  write_at(path, geometry.superblock_offset[0] + 64, noise, sizeof(noise));
  {
    const RingPool pool = RingPool::open(path);  // mended from its twin
    EXPECT_EQ(pool.ring().geometry().slot_count(), 3u);
  }
  write_at(path, geometry.superblock_offset[1] + 64, noise, sizeof(noise));
  { const RingPool pool = RingPool::open(path); }
  for (std::uint64_t offset : geometry.superblock_offset) write_at(path, offset + 64, noise, sizeof(noise));
  EXPECT_FAILS(RingPool::open(path), kDamaged, "both superblocks");
}

TEST(RingPoolTest, DamageInWhatIsPmdksIsDamage) {
  const testing::TemporaryFolder folder;
  const auto path = folder.file("x");
  { const RingPool pool = RingPool::create(path, RingShape::x_only(100), 3); }
  const char noise[16] = "not what it was";
  write_at(path, 32, noise, sizeof(noise));
  EXPECT_FAILS(RingPool::open(path), kDamaged, "libpmemobj");
}

TEST(RingPoolTest, ATruncatedPoolIsDamage) {
  const testing::TemporaryFolder folder;
  const auto path = folder.file("x");
  { const RingPool pool = RingPool::create(path, RingShape::x_only(100), 3); }
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4096);
  EXPECT_FAILS(RingPool::open(path), kDamaged, "truncated");
  std::filesystem::resize_file(path, 65536);  // before its superblocks: no creation leaves so little
  EXPECT_FAILS(RingPool::open(path), kDamaged, "truncated to 65536 bytes");
  EXPECT_FAILS(RingReader::open(path), kDamaged, "truncated to 65536 bytes");
}

TEST(RingPoolTest, AnInterruptedCreationIsNamedAsSuch) {
  const testing::TemporaryFolder folder;
  const auto path = folder.file("x");
  const RingGeometry geometry = RingPool::create(path, RingShape::x_only(100), 3).ring().geometry();
  const std::uint64_t nothing = 0;
  for (std::uint64_t offset : geometry.superblock_offset)
    write_at(path, offset + geometry.formatted_word_offset(), &nothing, 8);
  EXPECT_FAILS(RingPool::open(path), kUsage, "--overwrite");
}

TEST(RingPoolTest, AFullDiskIsNamedWithTheBytesItLacksAndNothingIsLeft) {
  const testing::TemporaryFolder folder;
  if (mount("none", folder.path().c_str(), "tmpfs", 0, "size=8m") != 0) {
    GTEST_SKIP() << "cannot mount a small tmpfs here: " << errno_text(errno);
  }
  EXPECT_FAILS(RingPool::create(folder.file("x"), RingShape::x_only(1'000'000), 3), kSystem,
               std::to_string(RingPool::file_bytes(RingShape::x_only(1'000'000), 3)));
  EXPECT_FAILS(RingPool::create(folder.file("x"), RingShape::x_only(1'000'000), 3), kSystem, "8388608");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  umount(folder.path().c_str());
}

TEST(RingPoolTest, AFileSizeLimitIsNamedAndNothingIsLeft) {
  const testing::TemporaryFolder folder;
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 1 << 20;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_FAILS(RingPool::create(folder.file("x"), RingShape::x_only(1000), 3), kSystem, "1048576");
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RingPoolTest, AFileThatMayNotBeOpenedIsTheSystemsFault) {
  if (geteuid() == 0) GTEST_SKIP() << "root may open everything";
  const testing::TemporaryFolder folder;
  const auto path = folder.file("x");
  { const RingPool pool = RingPool::create(path, RingShape::x_only(100), 3); }
  chmod(path.c_str(), 0);
  EXPECT_FAILS(RingPool::open(path), kSystem, "Permission denied");
}

TEST(RingPoolTest, AForcedPlainFileIsRefused) {
  const testing::TemporaryFolder folder;
  const WithEnvironment force("PMEM_IS_PMEM_FORCE", "1");
  EXPECT_FAILS(RingPool::create(folder.file("x"), RingShape::x_only(100), 3), kUsage, "PMEM_IS_PMEM_FORCE");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RingPoolTest, ThePathOverPersistentMemoryKeepsIteratesToo) {
  const testing::TemporaryFolder folder;
  const WithEnvironment force("PMEM_IS_PMEM_FORCE", "1");
  const WithEnvironment allow("RINGSIDE_ALLOW_FORCED_PMEM", "1");
  {
    const RingPool pool = RingPool::create(folder.file("x"), RingShape::x_only(50'000), 3);
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
  const RingPool pool = RingPool::open(folder.file("x"));
  const Recovery recovery = recover(pool.ring());
  EXPECT_EQ(recovery.contiguous, 3u);
  EXPECT_EQ(newest_intact(pool.ring(), recovery)->header.iteration, 5u);
}

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

/// Without AddressSanitizer: its own memory would be touched, and would fault, beside each page.
__attribute__((no_sanitize("address"))) void write_to_each_page(double* payload, std::uint64_t rows) {
  for (std::uint64_t row = 0; row < rows; row += 4096 / sizeof(double)) static_cast<volatile double*>(payload)[row] = 1;
}

TEST(RingPoolTest, WhatWasPrefaultedIsWrittenWithoutPageFaults) {
  // On a disk's file system, pages fault again once the kernel has written them back, and the kernel chooses when.
  const std::string folder = "/dev/shm";
  struct statfs system {};
  if (statfs(folder.c_str(), &system) != 0 || system.f_type != TMPFS_MAGIC) GTEST_SKIP() << "no tmpfs at " << folder;
  if (access(folder.c_str(), W_OK) != 0) GTEST_SKIP() << folder << " may not be written";
  constexpr std::uint64_t kRows = 1 << 20;  // 8 MiB
  const std::string path = folder + "/ringside_prefaulted." + std::to_string(getpid());
  const RingPool pool = RingPool::create(path, RingShape::x_only(kRows), 3);
  unlink(path.c_str());
  pool.prefault();
  const long before = page_faults();
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    write_to_each_page(reinterpret_cast<double*>(pool.ring().writable_payload(slot)), kRows);
  }
  EXPECT_LT(page_faults() - before, 200) << "of 6144 pages";
}

/// KiB of huge pages among the mappings of a file.
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

TEST(RingPoolTest, OnATmpfsWhatWasPrefaultedIsInHugePages) {
  const std::string folder = "/dev/shm";
  struct statfs system {};
  if (statfs(folder.c_str(), &system) != 0 || system.f_type != TMPFS_MAGIC) GTEST_SKIP() << "no tmpfs at " << folder;
  if (access(folder.c_str(), W_OK) != 0) GTEST_SKIP() << folder << " may not be written";
  const std::string path = folder + "/ringside_prefault." + std::to_string(getpid());
  constexpr std::size_t kHugePage = 2 << 20;
  const RingPool pool = RingPool::create(path, RingShape::x_only(3 * kHugePage / sizeof(double) - 5), 3);
  unlink(path.c_str());
  // One page shows whether the kernel makes huge pages of a tmpfs's pages at all.
  if (madvise(pool.ring().writable_payload(0), kHugePage, 25 /* MADV_COLLAPSE, Linux 6.1 */) != 0) {
    GTEST_SKIP() << "the kernel does not make huge pages of a tmpfs's pages: " << std::strerror(errno);
  }
  pool.prefault();
  EXPECT_EQ(huge_kib_of(path + " (deleted)"), 3 * 3 * kHugePage / 1024);
}

TEST(RingPoolTest, CanBeMovedWhileOpen) {
  const testing::TemporaryFolder folder;
  RingPool first = RingPool::create(folder.file("x"), RingShape::x_only(100), 3);
  const std::byte* base = first.base();
  const RingPool second = std::move(first);
  EXPECT_EQ(second.base(), base);
  EXPECT_EQ(second.ring().slot(0).state, SlotState::kEmpty);
}

}  // namespace
}  // namespace ringside
