// Wiping a journal: every log goes, whatever its state; a file that only has a log's name stays.
#include "analyzer/journal_wipe.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/unique_fd.hpp"
#include "tests/unit/journal_fixture.hpp"

namespace ringside {
namespace {

class JournalWipeTest : public JournalFixture {
 protected:
  void make(JournalKind kind = JournalKind::kFile) const {
    Journal journal = open(kind);
    append(journal, 20);
  }

  void expect_wiped(const std::string& path) const {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const WipedJournal wiped = wipe_journal(pool_);
    EXPECT_TRUE(wiped.left.empty()) << wiped.left.front();
    EXPECT_FALSE(std::filesystem::exists(path));
    std::string bytes(static_cast<std::size_t>(lseek(fd.get(), 0, SEEK_END)), 'x');
    EXPECT_EQ(pread(fd.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(bytes.find_first_not_of('\0'), std::string::npos);
  }

  void expect_left(const std::string& path, const std::string& why) const {
    const WipedJournal wiped = wipe_journal(pool_);
    ASSERT_EQ(wiped.left.size(), 1u);
    EXPECT_EQ(wiped.left[0].rfind(path + ": ", 0), 0u) << wiped.left[0];
    EXPECT_NE(wiped.left[0].find(why), std::string::npos) << wiped.left[0];
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::symlink_status(path)));
  }
};

TEST_F(JournalWipeTest, SomebodyElsesTextUnderALogsNameStays) {
  make();
  const std::string text(100'000, 'x');
  write(log(0), text);
  expect_left(log(0), "something else");
  EXPECT_EQ(bytes_of(log(0)), text);
  EXPECT_FALSE(std::filesystem::exists(log(1))) << "the other one is a log";
}

TEST_F(JournalWipeTest, AFileThatBeginsWithZerosAndGoesOnStays) {
  write(log(0), std::string(1000, '\0') + "text");
  expect_left(log(0), "something else");
}

TEST_F(JournalWipeTest, WhatIsNoRegularFileStaysAndIsNamed) {
  ASSERT_EQ(mkfifo(log(0).c_str(), 0600), 0);
  expect_left(log(0), "found a named pipe");
  std::filesystem::remove(log(0));
  std::filesystem::create_symlink(folder_.write("target", "precious"), log(0));
  expect_left(log(0), "found a symbolic link");
  EXPECT_EQ(bytes_of(folder_.file("target")), "precious");
}

TEST_F(JournalWipeTest, ALogIsOverwrittenAndDeleted) {
  make();
  expect_wiped(log(0));
}

TEST_F(JournalWipeTest, ALogOfLibpmemlogIsOverwrittenAndDeleted) {
  if (!has_pmemlog()) GTEST_SKIP() << "this build has no libpmemlog";
  make(JournalKind::kPmemlog);
  expect_wiped(log(0));
}

TEST_F(JournalWipeTest, ALogWhoseOffsetsAreDamagedIsOverwrittenAndDeleted) {
  if (!has_pmemlog()) GTEST_SKIP() << "this build has no libpmemlog";
  make(JournalKind::kPmemlog);
  flip(log(0), 4096 + 7);
  expect_wiped(log(0));
}

TEST_F(JournalWipeTest, ALogWithADamagedHeaderIsOverwrittenAndDeleted) {
  for (const std::uint64_t at : {0u, 9u, 20u, 60u}) {
    make();
    flip(log(0), at);
    expect_wiped(log(0));
    std::filesystem::remove(log(1));
  }
}

TEST_F(JournalWipeTest, ALogOfAnotherVersionIsOverwrittenAndDeleted) {
  make();
  flip(log(0), 8);
  expect_wiped(log(0));
}

TEST_F(JournalWipeTest, AnEmptyLogAndATornHeaderAreDeleted) {
  make();
  write(log(1), bytes_of(log(0)).substr(0, 5));
  EXPECT_EQ(wipe_journal(pool_).files, 2);
  write(log(0), "");
  EXPECT_EQ(wipe_journal(pool_).files, 1);
}

TEST_F(JournalWipeTest, AWipeThatWasCutOffCanBeDoneAgain) {
  // The first word is wiped last.
  make();
  const std::string whole = bytes_of(log(0));
  for (const std::size_t kept : {whole.size() / 2, std::size_t{100}, std::size_t{8}, std::size_t{0}}) {
    write(log(0), whole.substr(0, kept) + std::string(whole.size() - kept, '\0'));
    expect_wiped(log(0));
  }
}

TEST_F(JournalWipeTest, AnotherFileUnderTheNameOfANewLogIsNotDeleted) {
  if (!has_pmemlog()) GTEST_SKIP() << "this build has no libpmemlog";
  write(log(0) + ".new", "precious");
  const std::string said = refusal(ExitCode::kUsage, [&] { open(JournalKind::kPmemlog); });
  EXPECT_NE(said.find("is in the way of the new log"), std::string::npos) << said;
  EXPECT_EQ(bytes_of(log(0) + ".new"), "precious");
  write(log(0) + ".new", std::string(10'000, '\0'));
  EXPECT_NO_THROW(open(JournalKind::kPmemlog));
}

}  // namespace
}  // namespace ringside
