// SPDX-License-Identifier: BSD-3-Clause
#include "common/files/watched_mapping.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "common/platform/unique_fd.hpp"
#include "tests/unit/sanitized.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::size_t kBytes = 4 * kPageBytes;

/// A mapped file with four pages of '7'.
struct Mapped {
  explicit Mapped(const testing::TemporaryFolder& folder, const std::string& name = "pool")
      : path(folder.write(name, std::string(kBytes, '7'))), fd(open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    base = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
  }
  ~Mapped() { munmap(base, kBytes); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  char read(std::size_t at) const { return *static_cast<volatile char*>(base + at); }
  void write(std::size_t at, char c) const { *static_cast<volatile char*>(base + at) = c; }
  void truncate_to(off_t bytes) const { ASSERT_EQ(ftruncate(fd.get(), bytes), 0); }

  std::string path;
  UniqueFd fd;
  char* base = nullptr;
};

class WatchedMappingTest : public ::testing::Test {
 protected:
  /// Runs `body` in a process, with a file that is watched as `name`. Expects that the process ends as `how` says, and
  /// prints `line`. `body` must not return.
  template <class Ending>
  void expect_end(const std::function<void(const Mapped&, WatchedMapping&)>& body, Ending how, const std::string& line,
                  const char* name = "pool", bool in_journal = false) {
    const auto run = [&] {
      catch_bus_errors(in_journal);
      const Mapped file(folder_);
      WatchedMapping watched(name, file.fd.get(), file.base, kBytes);
      body(file, watched);
      _exit(77);
    };
    EXPECT_EXIT(run(), how, line);
  }

  testing::TemporaryFolder folder_;
};
using WatchedMappingDeathTest = WatchedMappingTest;
using ::testing::ExitedWithCode;
using ::testing::KilledBySignal;

TEST_F(WatchedMappingDeathTest, ATruncatedFileEndsTheProcessWithOneLineAndExitCode5) {
  const auto body = [](const Mapped& file, WatchedMapping&) {
    file.truncate_to(kPageBytes);
    file.read(0);  // this page still exists
    file.read(kPageBytes);
  };
  expect_end(body, ExitedWithCode(5),
             "^ringside: a\\\\n\\\\u202epool: was truncated to 4096 bytes while it was in use; expected a file that "
             "keeps its size\n$",
             "a\n\u202epool");
}

TEST_F(WatchedMappingDeathTest, InTheJournalTheLineHasAPriorityAndKeys) {
  const auto body = [](const Mapped& file, WatchedMapping&) {
    file.truncate_to(0);
    file.read(0);
  };
  expect_end(body, ExitedWithCode(5),
             "^<3>level=error event=failed exit_code=5 text=\"pool: was truncated to 0 .*\"\n$", "pool", true);
}

TEST_F(WatchedMappingDeathTest, AFaultOfAnyThreadIsTheMappings) {
  const auto body = [](const Mapped& file, WatchedMapping&) {
    file.truncate_to(0);
    std::thread([&] { file.read(0); }).join();
  };
  expect_end(body, ExitedWithCode(5), "^ringside: pool: was truncated");
}

TEST_F(WatchedMappingDeathTest, WithinALibrarysCallEveryFaultOfTheThreadIsTheFiles) {
  const auto run = [&] {
    catch_bus_errors(false);
    const Mapped file(folder_);
    const WatchedMapping call("pool", file.fd.get());
    file.truncate_to(0);
    file.read(0);
    _exit(77);
  };
  EXPECT_EXIT(run(), ExitedWithCode(3), "^ringside: pool: the disk failed \\(SIGBUS: [^\n]*\n$");
}

TEST_F(WatchedMappingDeathTest, FaultsOutsideOfAWatchedMappingAndSignalsOfProcessesKeepTheirAction) {
  if (testing::kSanitized) GTEST_SKIP() << "the sanitizer's own handler reports it";
  const auto faults_elsewhere = [&](const Mapped&, WatchedMapping&) {
    const Mapped other(folder_, "other");
    other.truncate_to(0);
    other.read(0);
  };
  expect_end(faults_elsewhere, KilledBySignal(SIGBUS), "^$");
  const auto is_no_longer_watched = [&](const Mapped&, WatchedMapping&) {
    const Mapped file(folder_, "other");
    { const WatchedMapping former("other", file.fd.get(), file.base, kBytes); }
    file.truncate_to(0);
    file.read(0);
  };
  expect_end(is_no_longer_watched, KilledBySignal(SIGBUS), "^$");
  expect_end([](const Mapped&, WatchedMapping&) { kill(getpid(), SIGBUS); }, KilledBySignal(SIGBUS), "^$");
}

void exit_with_9(int) {
  _exit(9);
}

TEST_F(WatchedMappingDeathTest, AHandlerThatWasThereBeforeHasTheFaultsThatAreNotOurs) {
  const auto run = [&] {
    signal(SIGBUS, exit_with_9);
    catch_bus_errors(false);
    const Mapped file(folder_);
    file.truncate_to(0);
    file.read(0);
    _exit(77);
  };
  EXPECT_EXIT(run(), ExitedWithCode(9), "^$");
}

TEST_F(WatchedMappingDeathTest, ATruncationThatIsNotToBeSurvivedEndsTheProcess) {
  const auto body = [](const Mapped& file, WatchedMapping& watched) {
    watched.survive_faults(WatchedMapping::Survive::kNotTruncation);
    file.truncate_to(0);
    file.write(0, 'x');
  };
  expect_end(body, ExitedWithCode(5), "^ringside: pool: was truncated to 0 bytes");
}

TEST_F(WatchedMappingTest, ASurvivedFaultLeavesWhatCanStillBeReadAndIsNotForgotten) {
  catch_bus_errors(false);
  const Mapped file(folder_);
  WatchedMapping watched("pool", file.fd.get(), file.base, kBytes);
  watched.survive_faults();
  EXPECT_TRUE(watched.intact());
  EXPECT_EQ(watched.error(), 0);
  file.truncate_to(kPageBytes);
  EXPECT_FALSE(watched.intact());
  file.write(2 * kPageBytes + 5, 'x');  // the instruction is repeated on a private page
  EXPECT_EQ(file.read(2 * kPageBytes + 5), 'x');
  EXPECT_EQ(file.read(2 * kPageBytes + 6), 0);
  EXPECT_EQ(file.read(kPageBytes - 1), '7');
  EXPECT_EQ(watched.error(), EIO);
  ASSERT_TRUE(watched.fault().has_value());
  EXPECT_EQ(watched.fault()->code(), ExitCode::kDamaged);
  EXPECT_STREQ(watched.fault()->what(),
               "pool: was truncated to 4096 bytes while it was in use; expected a file that keeps its size");
  EXPECT_EQ(std::filesystem::file_size(file.path), kPageBytes) << "the store did not reach the file";
}

TEST_F(WatchedMappingTest, ATruncationIsNotedBeforeAWriteMakesTheFileLongAgain) {
  const Mapped file(folder_);
  WatchedMapping watched("pool", file.fd.get(), file.base, kBytes);
  EXPECT_TRUE(watched.intact_or_noted());
  file.truncate_to(kPageBytes);
  EXPECT_FALSE(watched.intact_or_noted());
  file.truncate_to(kBytes);  // like a write at the file's previous end
  EXPECT_FALSE(watched.intact_or_noted()) << "what lay there is lost";
  EXPECT_EQ(watched.error(), EIO);
  ASSERT_TRUE(watched.fault().has_value());
  EXPECT_EQ(watched.fault()->code(), ExitCode::kDamaged);
}

TEST_F(WatchedMappingTest, TheFirstFailureIsKept) {
  const Mapped file(folder_);
  WatchedMapping watched("pool", file.fd.get(), file.base, kBytes);
  watched.note(ENOSPC);
  watched.note(EIO);
  EXPECT_EQ(watched.error(), ENOSPC);
  EXPECT_FALSE(watched.fault().has_value()) << "no page was lost";
}

TEST_F(WatchedMappingTest, ThreadsRegisterAndFaultAtTheSameTime) {
  catch_bus_errors(false);
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  std::vector<std::thread> threads;
  std::vector<int> survived(kThreads, 0);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < kRounds; ++round) {
        const Mapped file(folder_, "pool" + std::to_string(thread));
        WatchedMapping watched(file.path, file.fd.get(), file.base, kBytes);
        watched.survive_faults();
        file.truncate_to(0);
        file.write(0, 'x');
        survived[static_cast<std::size_t>(thread)] += watched.error() == EIO ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : survived) EXPECT_EQ(count, kRounds);
}

}  // namespace
}  // namespace ringside
