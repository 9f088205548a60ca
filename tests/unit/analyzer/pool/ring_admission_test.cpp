// SPDX-License-Identifier: BSD-3-Clause
// The pool that a run gets: an existing file at the pool's path is replaced if this was requested and is possible;
// otherwise the file does not change.
#include "analyzer/pool/ring_admission.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/pool/dax.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "tests/unit/analyzer/pool/offered_run.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kKeptRows = 2500;
constexpr std::uint32_t kKeptSlots = 8;

class RingAdmissionTest : public ::testing::Test {
 protected:
  static RingOptions options(const std::string& path) { return pool_options(path, kKeptSlots); }

  /// Makes a pool with iterations 1 to 3 of `kKeptRows` rows.
  static void keep_something(const std::string& path, const RunDescription& run = run_of(kKeptRows)) {
    make_pool(path, kKeptSlots, run, 3);
  }
  Admission ask(const RunDescription& run, PoolUse use) const { return admit(options(path_), offered(run), use); }
  static Iterations kept_in(const std::string& path) { return kept_iterations(RingPool::open(path).ring()); }

  /// Makes the file that a creation leaves if it is interrupted right before its end.
  static void leave_unformatted(const std::string& path) {
    const RingGeometry geometry = RingPool::create(path, RingShape::x_only(kKeptRows), kKeptSlots).ring().geometry();
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    for (const std::uint64_t offset : geometry.superblock_offset) {
      file.seekp(static_cast<std::streamoff>(offset + geometry.formatted_word_offset()));
      file.write("\0\0\0\0\0\0\0\0", 8);
    }
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.file("x.pool");
};

/// A file system whose size the test chooses.
class SmallFileSystemTest : public RingAdmissionTest {
 protected:
  void mount_with(std::uint64_t bytes) {
    const std::string size = "size=" + std::to_string(bytes);
    if (mount("none", folder_.path().c_str(), "tmpfs", 0, size.c_str()) != 0) {
      GTEST_SKIP() << "cannot mount a small tmpfs here: " << errno_text(errno);
    }
    mounted_ = true;
  }
  ~SmallFileSystemTest() override {
    if (mounted_) umount(folder_.path().c_str());
  }

 private:
  bool mounted_ = false;
};

TEST_F(SmallFileSystemTest, APoolWithoutRoomForItsSuccessorStaysAsItWas) {
  const std::uint64_t kept = RingPool::file_bytes(RingShape::x_only(kKeptRows), kKeptSlots);
  const std::uint64_t needed = RingPool::file_bytes(RingShape::x_only(100 * kKeptRows), kKeptSlots);
  mount_with(needed - (1 << 20));
  if (IsSkipped()) return;
  keep_something(path_);
  expect_refused([&] { ask(run_of(100 * kKeptRows), PoolUse::kOverwrite); }, std::to_string(needed), ExitCode::kSystem);
  EXPECT_LT(kept, needed);
  EXPECT_EQ(kept_in(path_), (Iterations{1, 2, 3}));
  EXPECT_FALSE(fs::exists(path_ + ".new"));
}

TEST_F(SmallFileSystemTest, APoolGoesFirstWhereThereIsRoomForOneOnly) {
  const std::uint64_t needed = RingPool::file_bytes(RingShape::x_only(10 * kKeptRows), kKeptSlots);
  mount_with(needed + (1 << 20));
  if (IsSkipped()) return;
  keep_something(path_);
  const RingPool pool = ask(run_of(10 * kKeptRows), PoolUse::kOverwrite).pool;
  EXPECT_EQ(pool.ring().geometry().entries(), 10 * kKeptRows);
  EXPECT_EQ(fs::file_size(path_), needed);
}

TEST_F(SmallFileSystemTest, WhatIsUnfinishedStaysWhereThereIsNoRoomForAPool) {
  mount_with(8 << 20);
  if (IsSkipped()) return;
  std::ofstream(path_) << std::string(1 << 20, '\0');
  expect_refused([&] { ask(run_of(100 * kKeptRows), PoolUse::kOverwrite); }, "no room", ExitCode::kSystem);
  EXPECT_EQ(fs::file_size(path_), 1u << 20);
}

TEST_F(RingAdmissionTest, APoolOfAnotherShapeIsReplacedAsAWhole) {
  keep_something(path_);
  const RingPool pool = ask(run_of(2 * kKeptRows), PoolUse::kOverwrite).pool;
  EXPECT_EQ(pool.ring().geometry().entries(), 2 * kKeptRows);
  EXPECT_FALSE(fs::exists(path_ + ".new"));
  expect_refused([&] { RingPool::open(path_); }, "in use", ExitCode::kSystem);
}

TEST_F(RingAdmissionTest, ARefusalNamesTheRunWhoseIteratesAreKept) {
  keep_something(path_);
  expect_refused([&] { ask(run_of(kKeptRows, 8), PoolUse::kFresh); },
                 "the pool holds 3 iterates of another run (pagerank, newest iteration 3)");
}

TEST_F(RingAdmissionTest, AProblemThatBytesOrOneOfBothNamesTellApartIsRefusedInWords) {
  keep_something(path_);
  RunDescription other = run_of(kKeptRows);
  other.problem_id = {1, 2};
  expect_refused([&] { ask(other, PoolUse::kResume); },
                 "this run has different content of the problem (problem_bytes); give the options");
  assign(other.matrix, "heat");
  expect_refused([&] { ask(other, PoolUse::kResume); }, "this run has problem heat instead of none; give the options");
  assign(other.parameters, "tol=1e-6");
  expect_refused([&] { ask(other, PoolUse::kResume); }, "this run has parameters tol=1e-6 instead of none; give the options");
}

TEST_F(RingAdmissionTest, AProblemOfTheSameNameAndOtherBytesIsRefusedWithItsName) {
  RunDescription named = run_of(kKeptRows);
  assign(named.matrix, "heat");
  keep_something(path_, named);
  named.problem_id = {1, 2};
  expect_refused([&] { ask(named, PoolUse::kResume); },
                 "this run has different content of heat (its file or problem_bytes differs), or a release that adds "
                 "the numbers in another order; give the options");
}

TEST_F(RingAdmissionTest, AnImpossibleShapeCostsNoPool) {
  keep_something(path_);
  expect_refused([&] { ask(run_of(std::uint64_t{1} << 40), PoolUse::kOverwrite); },
                 "expected a step of at most 17167289216 bytes");
  EXPECT_EQ(kept_in(path_), (Iterations{1, 2, 3}));
}

TEST_F(RingAdmissionTest, ThroughASymbolicLinkItIsThePoolThatIsReplaced) {
  const std::string link = folder_.file("link.pool");
  keep_something(path_);
  fs::create_symlink(path_, link);
  { const RingPool pool = admit(options(link), offered(run_of(2 * kKeptRows)), PoolUse::kOverwrite).pool; }
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(RingPool::open(path_).ring().geometry().entries(), 2 * kKeptRows);
}

TEST_F(RingAdmissionTest, WhatAKilledReplacementLeftIsRemovedAndNothingElse) {
  keep_something(path_);
  leave_unformatted(path_ + ".new");
  { const RingPool pool = ask(run_of(2 * kKeptRows), PoolUse::kOverwrite).pool; }
  EXPECT_FALSE(fs::exists(path_ + ".new"));

  keep_something(path_ + ".new");
  expect_refused([&] { ask(run_of(3 * kKeptRows), PoolUse::kOverwrite); }, ".new");
  EXPECT_EQ(kept_in(path_ + ".new"), (Iterations{1, 2, 3}));
  EXPECT_EQ(RingPool::open(path_).ring().geometry().entries(), 2 * kKeptRows);
}

TEST_F(RingAdmissionTest, EveryStateOfAnInterruptedCreationCanBeOverwritten) {
  const std::vector<std::pair<const char*, std::function<void()>>> states = {
      {"no byte", [&] { std::ofstream(path_).flush(); }},
      {"a few zeros", [&] { std::ofstream(path_) << std::string(100, '\0'); }},
      {"zeros", [&] { std::ofstream(path_) << std::string(10'000'000, '\0'); }},
      {"a pool's signature", [&] { std::ofstream(path_) << "PMEMOBJ" << std::string(9'000'000, '\0'); }},
      {"a pool of our layout",
       [&] {
         std::ofstream(path_) << "PMEMOBJ" << std::string(4089, '\0') << "ringside.ring"
                              << std::string(9'000'000, '\0');
       }},
      {"torn superblocks",
       [&] {
         leave_unformatted(path_);
         std::string bytes = testing::content_of(path_);
         for (std::size_t page = 0; page + kPageBytes <= bytes.size(); page += kPageBytes) {
           if (std::memcmp(bytes.data() + page, &kRingMagic, sizeof(kRingMagic)) == 0)
             bytes.replace(page + 64, 8, 8, '\0');
         }
         std::ofstream(path_, std::ios::binary) << bytes;
       }},
      {"no formatted word", [&] { leave_unformatted(path_); }},
  };
  for (const auto& [what, leave] : states) {
    SCOPED_TRACE(what);
    leave();
    const std::string before = testing::content_of(path_);
    EXPECT_NO_THROW(check_pool(options(path_)));
    expect_refused([&] { ask(run_of(kKeptRows, 8), PoolUse::kFresh); }, "--overwrite");
    expect_refused([&] { refuse_foreign_iterates(options(path_)); }, "--overwrite");
    EXPECT_EQ(testing::content_of(path_), before) << "a refusal changes nothing";
    for (const PoolUse use : {PoolUse::kOverwrite, PoolUse::kResume, PoolUse::kFreshAgain}) {
      try {
        const RingPool pool = ask(run_of(kKeptRows), use).pool;
        EXPECT_EQ(pool.ring().geometry().entries(), kKeptRows);
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
      fs::remove(path_);
      leave();
    }
    fs::remove(path_);
  }
}

TEST_F(RingAdmissionTest, ARequestMadeAgainMayOverwriteNothingElse) {
  keep_something(path_);
  expect_refused([&] { ask(run_of(kKeptRows, 9), PoolUse::kFreshAgain); }, "--overwrite");
  fs::remove(path_);
  { const RingPool empty = RingPool::create(path_, RingShape::x_only(kKeptRows), kKeptSlots); }
  expect_refused([&] { ask(run_of(2 * kKeptRows), PoolUse::kFreshAgain); }, "--overwrite");
}

TEST_F(RingAdmissionTest, ARingThatLibpmemobjCannotOpenIsReplacedWhenThatWasAskedFor) {
  const std::vector<std::pair<const char*, std::uint64_t>> damages = {
      {"the heap's size, seen by its hash", 6176},
      {"run_id, which no hash covers: libpmemobj refuses an odd one", 6152},
  };
  for (const auto& [what, offset] : damages) {
    SCOPED_TRACE(what);
    keep_something(path_);
    std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary).seekp(static_cast<long>(offset)).put(1);
    EXPECT_NO_THROW(check_pool(options(path_))) << "--overwrite can use it";
    const RunDescription other = run_of(kKeptRows, 9);
    for (const PoolUse use : {PoolUse::kFresh, PoolUse::kResume}) {
      expect_refused([&] { ask(other, use); }, "--overwrite", ExitCode::kDamaged);
    }
    expect_refused([&] { ask(run_of(kKeptRows), PoolUse::kOverwrite); }, "export", ExitCode::kDamaged);
    expect_refused([&] { ask(run_of(std::uint64_t{1} << 40, 9), PoolUse::kOverwrite); },
                   "expected a step of at most 17167289216 bytes");
    EXPECT_EQ(kept_iterations(RingReader::open(path_).ring()), (Iterations{1, 2, 3})) << "a refusal costs nothing";
    {
      const RingPool pool = ask(other, PoolUse::kOverwrite).pool;
      EXPECT_TRUE(kept_iterations(pool.ring()).empty());
      expect_refused([&] { RingPool::replace_unownable(path_, RingShape::x_only(kKeptRows), kKeptSlots); }, "in use",
                     ExitCode::kSystem);
    }
    EXPECT_FALSE(fs::exists(path_ + ".new"));
    fs::remove(path_);
  }
}

TEST_F(RingAdmissionTest, SomebodysFileIsNeverOverwritten) {
  const std::vector<std::pair<const char*, std::string>> files = {
      {"a letter", "Dear reader,\n"},
      {"a letter after a page of zeros", std::string(4096, '\0') + "Dear reader,\n"},
      {"a letter at the end of a file of zeros", std::string(9'000'000, '\0') + "Dear reader,\n"},
      {"a pool of another layout", "PMEMOBJ" + std::string(4089, '\0') + "letters" + std::string(9'000'000, '\0')},
      {"a pool without a layout's name",
       "PMEMOBJ" + std::string(4089, '\0') + std::string(2040, '\0') + "checksum" + std::string(9'000'000, '\0')},
  };
  for (const auto& [what, bytes] : files) {
    SCOPED_TRACE(what);
    std::ofstream(path_, std::ios::binary) << bytes;
    expect_refused([&] { check_pool(options(path_)); }, "not a Ringside pool");
    expect_refused([&] { ask(run_of(kKeptRows), PoolUse::kOverwrite); }, "not a Ringside pool");
    EXPECT_EQ(testing::content_of(path_), bytes);
  }
}

TEST_F(RingAdmissionTest, AFolderThatIsNotThereIsNoticedBeforeARunBegins) {
  expect_refused([&] { check_pool(options(folder_.file("missing/x.pool"))); }, "expected a file in a writable folder",
                 ExitCode::kSystem);
  EXPECT_NO_THROW(check_pool(options(path_)));
}

TEST_F(RingAdmissionTest, ALinkThatLeadsNowhereIsNoticedBeforeARunBegins) {
  fs::create_symlink(folder_.file("nowhere"), path_);
  expect_refused([&] { check_pool(options(path_)); }, "which does not exist");
  fs::remove(path_);
  EXPECT_NO_THROW(check_pool(options(path_)));
}

TEST_F(RingAdmissionTest, WhereDaxIsRequiredNoRunGetsAPlainFile) {
  if (ask_for_dax(path_, find_pool_device(path_)).granted()) GTEST_SKIP() << "this folder passes for persistent memory";
  RingOptions demanding = options(path_);
  demanding.require_dax = true;
  expect_refused([&] { admit(demanding, offered(run_of(kKeptRows)), PoolUse::kOverwrite); }, "--require-dax",
                 ExitCode::kSystem);
  EXPECT_FALSE(fs::exists(path_));
  { const RingPool pool = ask(run_of(kKeptRows, 8), PoolUse::kFresh).pool; }
  const std::string before = testing::content_of(path_);
  expect_refused([&] { admit(demanding, offered(run_of(2 * kKeptRows)), PoolUse::kOverwrite); }, "--require-dax",
                 ExitCode::kSystem);
  EXPECT_EQ(testing::content_of(path_), before);
}

TEST_F(RingAdmissionTest, ACreationThatIsUnderWayIsNotAnInterruptedOne) {
  std::ofstream(path_) << std::string(10'000'000, '\0');
  const UniqueFd creator(open(path_.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(creator.get(), LOCK_EX), 0);
  expect_refused([&] { ask(run_of(kKeptRows), PoolUse::kOverwrite); }, "in use", ExitCode::kSystem);
  EXPECT_EQ(fs::file_size(path_), 10'000'000u);
}

}  // namespace
}  // namespace ringside
