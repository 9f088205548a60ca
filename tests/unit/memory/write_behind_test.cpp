// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous writes of a far file on a disk. A test delays a write by not submitting it. Until then, the file
// certainly has its old content, as on a slow disk.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "memory/far/far_file.hpp"
#include "tests/unit/sanitized.hpp"

namespace ringside::testing {
namespace {

using ringside::memory::FarFile;
using ringside::memory::kPage;
using ringside::memory::kStageBytes;

constexpr const char* kFolder = "/var/tmp";
constexpr uint64_t kFileBytes = uint64_t{64} << 20;

/// Memory that a disk can read and write.
struct WrittenPages {
  explicit WrittenPages(size_t size, char content = 0)
      : bytes(size), at(static_cast<char*>(std::aligned_alloc(kPage, size))) {
    std::memset(at, content, bytes);
  }
  ~WrittenPages() { std::free(at); }
  WrittenPages(const WrittenPages&) = delete;
  WrittenPages& operator=(const WrittenPages&) = delete;
  bool all(char content) const {
    return std::all_of(at, at + bytes, [&](char found) { return found == content; });
  }
  size_t bytes;
  char* at;
};

class WriteBehindTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(file_.start(kFolder, kFileBytes), 0);
    if (!file_.writes_behind()) GTEST_SKIP() << kFolder << " cannot be written past the page cache";
    ASSERT_EQ(file_.reserve(0, kFileBytes), 0);
  }
  void TearDown() override { file_.stop(); }

  void write(uint64_t offset, size_t bytes, char content) {
    const WrittenPages pages(bytes, content);
    file_.write(offset, pages.at, bytes);
  }
  /// A write that is not submitted.
  void hold_back(uint64_t offset, size_t bytes, char content) {
    const WrittenPages pages(bytes, content);
    file_.write(offset, pages.at, bytes, held_);
  }
  void submit() { file_.submit(held_); }

  bool file_has(uint64_t offset, size_t bytes, char content) const {
    const WrittenPages pages(bytes, 1);
    EXPECT_EQ(pread(file_.descriptor(), pages.at, bytes, static_cast<off_t>(offset)), static_cast<ssize_t>(bytes));
    return pages.all(content);
  }
  bool reads(uint64_t offset, size_t bytes, char content) {
    const WrittenPages pages(bytes, 1);
    file_.read(offset, pages.at, bytes);
    return pages.all(content);
  }
  /// Returns whether `act` waits until the delayed writes are submitted, and then ends.
  bool waits_for_submit(const std::function<void()>& act) {
    std::atomic<bool> over{false};
    std::thread other([&] {
      act();
      over.store(true);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const bool waited = !over.load();
    submit();
    other.join();
    return waited;
  }

  FarFile file_;
  FarFile::Writes held_;
};

TEST_F(WriteBehindTest, AReadFindsWhatTheFileDoesNotHaveYet) {
  hold_back(64 * kPage, 4 * kPage, 'a');
  EXPECT_TRUE(file_has(64 * kPage, 4 * kPage, 0));
  EXPECT_TRUE(reads(64 * kPage, 4 * kPage, 'a'));
  EXPECT_TRUE(reads(66 * kPage, kPage, 'a')) << "a part";
  EXPECT_TRUE(reads(68 * kPage, kPage, 0)) << "the neighbour";
  submit();
  file_.flush();
  EXPECT_TRUE(file_has(64 * kPage, 4 * kPage, 'a'));
  EXPECT_TRUE(reads(64 * kPage, 4 * kPage, 'a'));
}

TEST_F(WriteBehindTest, AReadOfMoreThanAWriteHoldsWaitsForIt) {
  hold_back(65 * kPage, kPage, 'a');
  const WrittenPages found(4 * kPage, 1);
  EXPECT_TRUE(waits_for_submit([&] { file_.read(64 * kPage, found.at, found.bytes); }));
  for (uint64_t page = 0; page < 4; ++page) EXPECT_EQ(found.at[page * kPage], page == 1 ? 'a' : 0) << page;
}

TEST_F(WriteBehindTest, ASecondWriteOfARangeComesAfterTheFirst) {
  hold_back(64 * kPage, 4 * kPage, 'a');
  EXPECT_TRUE(waits_for_submit([&] { write(66 * kPage, 4 * kPage, 'b'); }));
  EXPECT_TRUE(reads(66 * kPage, 4 * kPage, 'b'));
  file_.flush();
  EXPECT_TRUE(file_has(64 * kPage, 2 * kPage, 'a'));
  EXPECT_TRUE(file_has(66 * kPage, 4 * kPage, 'b'));
}

TEST_F(WriteBehindTest, AHoleComesAfterAWrite) {
  hold_back(64 * kPage, 4 * kPage, 'a');
  EXPECT_TRUE(waits_for_submit([&] { file_.punch(64 * kPage, 4 * kPage); }));
  EXPECT_TRUE(reads(64 * kPage, 4 * kPage, 0));
  file_.flush();
  EXPECT_TRUE(file_has(64 * kPage, 4 * kPage, 0));
}

TEST_F(WriteBehindTest, FlushWaitsForWrites) {
  hold_back(64 * kPage, 4 * kPage, 'a');
  EXPECT_TRUE(waits_for_submit([&] { file_.flush(); }));
  EXPECT_TRUE(file_has(64 * kPage, 4 * kPage, 'a'));
}

TEST_F(WriteBehindTest, ABlockThatWasReadAheadOfAWriteOnItsWayIsNotUsedThere) {
  write(kStageBytes, kStageBytes, 'a');
  file_.flush();
  hold_back(kStageBytes + 64 * kPage, 2 * kPage, 'b');
  file_.read_ahead(kStageBytes);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the read is complete, with the content 'a'
  submit();
  file_.flush();
  EXPECT_TRUE(reads(kStageBytes + 64 * kPage, 2 * kPage, 'b'));
  EXPECT_TRUE(reads(kStageBytes + 8 * kPage, 8 * kPage, 'a'));
}

TEST_F(WriteBehindTest, ABlockThatWasReadAheadBeforeAWriteIsNotUsedThere) {
  write(kStageBytes, kStageBytes, 'a');
  file_.flush();
  file_.read_ahead(kStageBytes);
  hold_back(kStageBytes + 64 * kPage, 2 * kPage, 'b');
  submit();
  file_.flush();
  EXPECT_TRUE(reads(kStageBytes + 64 * kPage, 2 * kPage, 'b'));
}

// Each of the n threads owns every n-th MiB, in the same way as a thread owns the words of its granules.
TEST_F(WriteBehindTest, ThreadsReadWhatTheyWroteThoughThereIsRoomForLittleOfIt) {
  constexpr uint64_t kThreads = 4, kArea = uint64_t{1} << 20, kPages = 8 * kArea / kPage;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937_64 random(thread);
      std::vector<char> content(kPages, 0);
      const WrittenPages pages(kArea);
      for (int round = 0; round < (kSanitized ? 800 : 4000); ++round) {
        FarFile::Writes together;
        for (uint64_t several = random() % 8; several > 0; --several) {
          const uint64_t first = random() % kPages, in_area = first % (kArea / kPage);
          const uint64_t most = std::min<uint64_t>(kArea / kPage - in_area, random() % 4 == 0 ? 256 : 3);
          const uint64_t count = random() % most + 1;
          const uint64_t offset = (first * kPage / kArea * kThreads + thread) * kArea + in_area * kPage;
          switch (random() % 9) {
            case 0:
              file_.submit(together);  // a hole waits for writes, so these must be submitted first
              file_.punch(offset, count * kPage);
              std::fill_n(content.begin() + static_cast<ptrdiff_t>(first), count, 0);
              break;
            case 1: file_.read_ahead(offset & ~(kStageBytes - 1)); break;
            case 2:
            case 3:
            case 4:
              for (uint64_t i = 0; i < count; ++i) {
                content[first + i] = static_cast<char>(random());
                std::memset(pages.at + i * kPage, content[first + i], kPage);
              }
              file_.write(offset, pages.at, count * kPage, together);
              break;
            default:
              file_.submit(together);
              file_.read(offset, pages.at, count * kPage);
              for (uint64_t i = 0; i < count * kPage; i += 512) {
                if (pages.at[i] != content[first + i / kPage]) wrong.fetch_add(1);
              }
          }
        }
        file_.submit(together);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST_F(WriteBehindTest, AWriteThatFailsEndsTheProcess) {
  const auto fail = [&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit most{kPage, kPage};  // the kernel reports EFBIG at the write's completion
    setrlimit(RLIMIT_FSIZE, &most);
    write(64 * kPage, kPage, 'a');
    file_.flush();
    _exit(0);
  };
  // The child process adopts a file, as a forked program does, and therefore has its own queues.
  const auto in_child = [&] {
    const int file = open(kFolder, O_TMPFILE | O_RDWR | O_DIRECT, 0600);
    if (file < 0 || ftruncate(file, static_cast<off_t>(kFileBytes)) != 0 || file_.adopt(file) != 0) _exit(1);
    fail();
  };
  EXPECT_EXIT(in_child(), ::testing::KilledBySignal(SIGABRT), "cannot write far memory \\(File too large\\)");
}

TEST_F(WriteBehindTest, AForkedChildHasNothingOfItsParentsWrites) {
  write(kStageBytes, kStageBytes, 'a');
  file_.flush();
  file_.read_ahead(kStageBytes);
  hold_back(64 * kPage, 4 * kPage, 'a');
  const int copy = open(kFolder, O_TMPFILE | O_RDWR | O_DIRECT, 0600);
  ASSERT_GE(copy, 0);
  ASSERT_EQ(ftruncate(copy, static_cast<off_t>(kFileBytes)), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends the child if it waits for its parent's writes
    if (file_.adopt(copy) != 0) _exit(1);
    if (!reads(64 * kPage, 4 * kPage, 0)) _exit(2);
    if (!reads(kStageBytes, kPage, 0)) _exit(3);
    write(65 * kPage, kPage, 'c');
    if (!reads(65 * kPage, kPage, 'c')) _exit(4);
    file_.flush();
    if (!file_has(65 * kPage, kPage, 'c')) _exit(5);
    file_.read_ahead(0);
    if (!reads(65 * kPage, kPage, 'c')) _exit(6);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  close(copy);
  EXPECT_TRUE(reads(64 * kPage, 4 * kPage, 'a'));
  submit();
}

}  // namespace
}  // namespace ringside::testing
