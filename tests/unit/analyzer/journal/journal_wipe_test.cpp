// SPDX-License-Identifier: BSD-3-Clause
// Wiping a journal: a journal in any state is removed; a file that only has a journal's name is refused.
#include "analyzer/journal/journal_wipe.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "common/platform/unique_fd.hpp"
#include "tests/unit/analyzer/journal/journal_fixture.hpp"

namespace ringside {
namespace {

class JournalWipeTest : public JournalFixture {
 protected:
  void make(JournalKind kind = JournalKind::kFile) const { append_and_close(20, kind); }

  void expect_wiped(const std::string& path) const {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_NO_THROW(JournalWipe(pool_).overwrite());
    EXPECT_FALSE(std::filesystem::exists(path));
    std::string bytes(static_cast<std::size_t>(lseek(fd.get(), 0, SEEK_END)), 'x');
    EXPECT_EQ(pread(fd.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(bytes.find_first_not_of('\0'), std::string::npos);
  }

  void expect_refused(const std::string& path, const std::string& found) const {
    const std::string said = failure_line([&] { JournalWipe(pool_).overwrite(); });
    EXPECT_EQ(said.rfind(path + ": found " + found, 0), 0u) << said;
    EXPECT_NE(said.find("nothing was wiped"), std::string::npos) << said;
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::symlink_status(path)));
  }

  /// Overwrites the first `bytes` of a file with text.
  static void write_text_over_the_beginning(const std::string& path, std::size_t bytes) {
    std::string content = bytes_of(path);
    ASSERT_GT(content.size(), bytes);
    write(path, content.replace(0, bytes, bytes, 'x'));
  }
};

TEST_F(JournalWipeTest, ATextFileUnderALogsNameIsRefusedBeforeAnythingIsTouched) {
  make();
  for (const std::uint32_t other : {1u, 0u}) {
    write(log(1 - other), bytes_of(log(other)));
    const std::string text(100'000, 'x');
    const std::string kept = bytes_of(log(1 - other));
    write(log(other), text);
    expect_refused(log(other), "a file that is not a journal's log");
    EXPECT_EQ(bytes_of(log(other)), text);
    EXPECT_EQ(bytes_of(log(1 - other)), kept);
    write(log(other), kept);
  }
}

TEST_F(JournalWipeTest, AFileThatBeginsWithZerosAndContinuesIsRefused) {
  write(log(0), std::string(1000, '\0') + "text");
  expect_refused(log(0), "a file that is not a journal's log");
}

TEST_F(JournalWipeTest, ATextThatHoldsTheMarkOfARecordIsRefused) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "FRAMwork";
  write(log(0), text);
  expect_refused(log(0), "a file that is not a journal's log");
}

TEST_F(JournalWipeTest, ALogWhoseBeginningIsDestroyedIsOverwrittenAndDeleted) {
  for (const std::size_t destroyed : {std::size_t{100}, std::size_t{4096}, std::size_t{100'000}}) {
    append_and_close(600);
    write_text_over_the_beginning(log(0), destroyed);
    expect_wiped(log(0));
    EXPECT_TRUE(journal_files_there(pool_).empty());
  }
}

TEST_F(JournalWipeTest, ARecordThatIsLeftAloneVerifiesByTheHeader) {
  make();
  std::string content = bytes_of(log(0));
  content.replace(0, 8, 8, 'x').replace(64, content.size() - 400, content.size() - 400, 'x');
  write(log(0), content);
  expect_wiped(log(0));
}

TEST_F(JournalWipeTest, AWipeOfADamagedLogThatWasCutOffCanBeDoneAgain) {
  make();
  write_text_over_the_beginning(log(0), 1000);
  std::string content = bytes_of(log(0));
  content.replace(0, 8, "RSJRNL01");
  write(log(0), content.substr(0, 900) + std::string(content.size() - 900, '\0'));
  expect_wiped(log(0));
}

TEST_F(JournalWipeTest, WhatIsNoRegularFileIsRefusedAndNamed) {
  ASSERT_EQ(mkfifo(log(0).c_str(), 0600), 0);
  expect_refused(log(0), "a named pipe");
  std::filesystem::remove(log(0));
  std::filesystem::create_symlink(folder_.write("target", "precious"), log(0));
  expect_refused(log(0), "a symbolic link");
  EXPECT_EQ(bytes_of(folder_.file("target")), "precious");
}

TEST_F(JournalWipeTest, ALogIsOverwrittenAndDeleted) {
  make();
  expect_wiped(log(0));
}

TEST_F(JournalWipeTest, ALogOfLibpmemlogInAnyStateIsOverwrittenAndDeleted) {
  if (!has_pmemlog()) GTEST_SKIP() << "this build has no libpmemlog";
  const auto damage_offsets = [&] { flip(log(0), 4096 + 7); };
  const auto destroy_beginning = [&] { write_text_over_the_beginning(log(0), 9000); };
  for (const std::function<void()>& change : {std::function<void()>([] {}), {damage_offsets}, {destroy_beginning}}) {
    make(JournalKind::kPmemlog);
    change();
    expect_wiped(log(0));
    std::filesystem::remove(log(1));
  }
}

TEST_F(JournalWipeTest, ALogWithADamagedHeaderOrOfAnotherVersionIsOverwrittenAndDeleted) {
  for (const std::uint64_t at : {0u, 8u, 9u, 20u, 60u}) {
    make();
    flip(log(0), at);
    expect_wiped(log(0));
    std::filesystem::remove(log(1));
  }
}

TEST_F(JournalWipeTest, AnEmptyLogAndATornHeaderAreDeleted) {
  make();
  write(log(1), bytes_of(log(0)).substr(0, 5));
  EXPECT_EQ(JournalWipe(pool_).overwrite().files, 2);
  write(log(0), "");
  EXPECT_EQ(JournalWipe(pool_).overwrite().files, 1);
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
  ringside::expect_refused([&] { open(JournalKind::kPmemlog); }, "this file exists already");
  EXPECT_EQ(bytes_of(log(0) + ".new"), "precious");
  write(log(0) + ".new", std::string(10'000, '\0'));
  EXPECT_NO_THROW(open(JournalKind::kPmemlog));
}

}  // namespace
}  // namespace ringside
