// SPDX-License-Identifier: BSD-3-Clause
// Readers, runs and services that open a pool while it is made: at each system call of the creation, from the first
// moment of the file, through the work of libpmemobj, to the end. The creation continues only after they have examined
// the pool.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <libpmemobj.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <string>
#include <utility>

#include "analyzer/pool/pool_wipe.hpp"
#include "analyzer/pool/ring_admission.hpp"
#include "common/files/creation_mark.hpp"
#include "common/platform/error.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "tests/unit/analyzer/pool/offered_run.hpp"
#include "tests/unit/analyzer/pool/replaced_fsync.hpp"
#include "tests/unit/child_process.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace {

bool in_libpmemobj = false;  // if true, making another pool with libpmemobj in this process would deadlock
std::function<void(const char*)> on_call;  // if set, it is called at the calls below, the moments of a creation

/// Reports a system call before and after the call. Calls that are made during the report are not reported.
template <class Call>
auto at_moments(const char* name, const Call& call) {
  const auto moment = std::exchange(on_call, nullptr);
  const auto look = [&] {
    if (moment) moment(name);
  };
  look();
  on_call = moment;
  const auto result = call();
  const int error = errno;
  on_call = nullptr;
  look();
  on_call = moment;
  errno = error;
  return result;
}

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// The functions below replace those of the C library and libpmemobj, even for calls from one of these libraries to
// another.
extern "C" {

int flock(int fd, int operation) noexcept {
  return at_moments("flock", [&] { return real<int (*)(int, int)>("flock")(fd, operation); });
}
int linkat(int from, const char* name, int to, const char* other, int flags) noexcept {
  return at_moments("linkat", [&] {
    return real<int (*)(int, const char*, int, const char*, int)>("linkat")(from, name, to, other, flags);
  });
}
int posix_fallocate(int fd, off_t offset, off_t bytes) {
  return at_moments("posix_fallocate",
                    [&] { return real<int (*)(int, off_t, off_t)>("posix_fallocate")(fd, offset, bytes); });
}
int msync(void* address, size_t bytes, int flags) {
  return at_moments("msync", [&] { return real<int (*)(void*, size_t, int)>("msync")(address, bytes, flags); });
}
int mprotect(void* address, size_t bytes, int protection) noexcept {
  return at_moments("mprotect",
                    [&] { return real<int (*)(void*, size_t, int)>("mprotect")(address, bytes, protection); });
}
int fdatasync(int fd) {
  return at_moments("fdatasync", [&] { return real<int (*)(int)>("fdatasync")(fd); });
}
int fsync(int fd) {
  ringside::on_fsync(fd);
  return at_moments("fsync", [&] { return real<int (*)(int)>("fsync")(fd); });
}
int unlink(const char* path) noexcept {
  return at_moments("unlink", [&] { return real<int (*)(const char*)>("unlink")(path); });
}
int rename(const char* from, const char* to) noexcept {
  return at_moments("rename", [&] { return real<int (*)(const char*, const char*)>("rename")(from, to); });
}

PMEMobjpool* pmemobj_create(const char* path, const char* layout, size_t bytes, mode_t mode) {
  using Create = PMEMobjpool* (*)(const char*, const char*, size_t, mode_t);
  in_libpmemobj = true;
  PMEMobjpool* pool = real<Create>("pmemobj_create")(path, layout, bytes, mode);
  in_libpmemobj = false;
  return pool;
}
PMEMobjpool* pmemobj_open(const char* path, const char* layout) {
  const auto moment = std::exchange(on_call, nullptr);  // calls during this are no moments
  PMEMobjpool* pool = real<PMEMobjpool* (*)(const char*, const char*)>("pmemobj_open")(path, layout);
  const int error = errno;
  on_call = moment;
  errno = error;
  return pool;
}
void pmemobj_close(PMEMobjpool* pool) {
  const auto moment = std::exchange(on_call, nullptr);
  real<void (*)(PMEMobjpool*)>("pmemobj_close")(pool);
  on_call = moment;
}

}  // extern "C"

namespace ringside {
namespace {

constexpr std::uint64_t kNewRows = 2500;
constexpr std::uint32_t kNewSlots = 3;
constexpr std::chrono::milliseconds kAtOnce{0};

class PoolCreationTest : public ::testing::Test {
 protected:
  ~PoolCreationTest() override { on_call = nullptr; }

  RingOptions options() const { return pool_options(path_, kNewSlots); }
  RingPool create() const { return RingPool::create(path_, RingShape::x_only(kNewRows), kNewSlots); }
  Admission ask(const RunDescription& run, PoolUse use) const { return admit(options(), offered(run), use); }

  /// Calls `look` at each moment of `creation`.
  void at_each_moment(const std::function<void()>& creation, const std::function<void(const std::string&)>& look) {
    on_call = [&](const char* name) {
      ++moments_[name];
      look(name);
    };
    ASSERT_NO_THROW(creation());
    on_call = nullptr;
    EXPECT_GT(moments_["posix_fallocate"], 0);
    EXPECT_GT(moments_["fsync"], 0);
  }

  /// The exit code of `action`. The text of its error is stored in `text_`.
  ExitCode code_of(const std::function<void()>& action) {
    text_.clear();
    try {
      action();
    } catch (const Error& error) {
      text_ = error.what();
      return error.code();
    }
    return ExitCode::kDone;
  }

  /// Expects that the pool is reported as missing or in use, without the advice to overwrite it.
  void expect_none_or_in_use(ExitCode code, const std::string& moment) {
    const bool missing = code == ExitCode::kUsage && text_.find("No such file") != std::string::npos;
    EXPECT_TRUE(missing || code == ExitCode::kSystem) << moment << ": " << static_cast<int>(code) << " " << text_;
    EXPECT_EQ(text_.find("--overwrite"), std::string::npos) << moment << ": " << text_;
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.file("x.pool");
  std::string text_;
  std::map<std::string, int> moments_;
};

TEST_F(PoolCreationTest, AReaderIsToldThatAPoolIsBeingMadeUntilItIsComplete) {
  bool complete = false;
  int told = 0;
  at_each_moment([&] { const RingPool pool = create(); },
                 [&](const std::string& moment) {
                   const ExitCode code = code_of([&] {
                     const RingReader reader = RingReader::open(path_, kAtOnce);
                     EXPECT_TRUE(reader.ring().superblock_intact(0) && reader.ring().superblock_intact(1)) << moment;
                     EXPECT_TRUE(reader.ring().pmdk_metadata_intact()) << moment;
                   });
                   complete = complete || code == ExitCode::kDone;
                   if (complete) {
                     EXPECT_EQ(code, ExitCode::kDone) << moment << ": " << text_;
                   } else {
                     expect_none_or_in_use(code, moment);
                     if (text_.find("is being made") != std::string::npos) ++told;
                   }
                 });
  EXPECT_GT(told, 10);
  EXPECT_TRUE(complete);
}

TEST_F(PoolCreationTest, WhoComesToAPoolThatIsBeingMadeIsToldThatItIsInUse) {
  at_each_moment(
      [&] { const RingPool pool = create(); },
      [&](const std::string& moment) {
        if (!std::filesystem::exists(path_)) return;
        for (const PoolUse use : {PoolUse::kFresh, PoolUse::kOverwrite, PoolUse::kResume, PoolUse::kFreshAgain}) {
          EXPECT_EQ(code_of([&] { ask(run_of(kNewRows), use); }), ExitCode::kSystem) << moment << ": " << text_;
          EXPECT_NE(text_.find("in use by"), std::string::npos) << moment << ": " << text_;
        }
        EXPECT_EQ(code_of([&] { refuse_foreign_iterates(options()); }), ExitCode::kSystem) << text_;
        EXPECT_EQ(code_of([&] { check_pool(options()); }), ExitCode::kSystem) << text_;
        EXPECT_EQ(code_of([&] { PoolWipe wipe(path_); }), ExitCode::kSystem) << moment << ": " << text_;
      });
  EXPECT_EQ(code_of([&] { check_pool(options()); }), ExitCode::kDone) << "none of them was in the creator's way";
}

TEST_F(PoolCreationTest, APoolThatIsReplacedIsWholeOrNotThere) {
  { const RingPool pool = create(); }
  at_each_moment([&] { ask(run_of(2 * kNewRows), PoolUse::kOverwrite); },
                 [&](const std::string& moment) {
                   const ExitCode code = code_of([&] { RingReader::open(path_, kAtOnce); });
                   if (code != ExitCode::kDone) expect_none_or_in_use(code, moment);
                   if (in_libpmemobj) return;
                   EXPECT_EQ(code_of([&] { ask(run_of(kNewRows), PoolUse::kOverwrite); }), ExitCode::kSystem)
                       << moment << ": " << text_;
                 });
  EXPECT_GT(moments_["rename"], 0);
}

TEST_F(PoolCreationTest, WhatAnInterruptedCreationLeftIsReplacedByOneOnly) {
  std::ofstream(path_) << std::string(10'000'000, '\0');
  bool is_gone = false;
  int looks = 0;
  at_each_moment([&] { ask(run_of(kNewRows), PoolUse::kOverwrite); },
                 [&](const std::string& moment) {
                   // While the old file exists, and while no file exists, any process may become the owner.
                   const bool there = std::filesystem::exists(path_);
                   is_gone = is_gone || !there;
                   if (!is_gone || !there) return;
                   ++looks;
                   EXPECT_EQ(code_of([&] { ask(run_of(kNewRows), PoolUse::kOverwrite); }), ExitCode::kSystem)
                       << moment << ": " << text_;
                 });
  EXPECT_GT(looks, 10);
}

TEST_F(PoolCreationTest, AReaderWaitsForAPoolThatIsBeingMade) {
  const UniqueFd creator(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  mark_as_being_made(creator.get());
  EXPECT_EQ(code_of([&] { RingReader::open(path_, kAtOnce); }), ExitCode::kSystem);
  EXPECT_NE(text_.find("is being made"), std::string::npos) << text_;
  // This reader waits for a pool as long as this test may take.
  auto reader = std::async(std::launch::async, [&] { return RingReader::open(path_, std::chrono::minutes(5)); });
  { const RingPool pool = RingPool::create(folder_.file("y"), RingShape::x_only(kNewRows), kNewSlots); }
  std::filesystem::rename(folder_.file("y"), path_);
  EXPECT_EQ(reader.get().ring().geometry().entries(), kNewRows);
}

TEST_F(PoolCreationTest, TheMarkGoesWithItsProcess) {
  testing::status_of_child([&] {
    const int fd = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    mark_as_being_made(fd);
    return ftruncate(fd, 10'000'000);
  });
  EXPECT_EQ(code_of([&] { RingReader::open(path_, kAtOnce); }), ExitCode::kUsage);
  EXPECT_NE(text_.find("interrupted"), std::string::npos) << text_;
}

TEST_F(PoolCreationTest, ADanglingLinkIsNamedWithItsTarget) {
  std::filesystem::create_symlink(folder_.file("nothing"), path_);
  EXPECT_EQ(code_of([&] { ask(run_of(kNewRows), PoolUse::kOverwrite); }), ExitCode::kUsage);
  EXPECT_NE(text_.find(folder_.file("nothing")), std::string::npos) << text_;
  EXPECT_EQ(text_.find("--overwrite"), std::string::npos) << text_;
}

}  // namespace
}  // namespace ringside
