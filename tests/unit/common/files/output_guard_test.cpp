// SPDX-License-Identifier: BSD-3-Clause
// Files that no output may replace: real files of each kind, reached by names and links that do not show the kind.
#include "common/files/output_guard.hpp"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "analyzer/journal/journal.hpp"
#include "analyzer/journal/journal_storage.hpp"
#include "analyzer/pool/ring_pool.hpp"
#include "common/files/creation_mark.hpp"
#include "common/files/output_file.hpp"
#include "common/platform/unique_fd.hpp"
#include "common/ranks/ranks_file.hpp"
#include "producer/matrix/matrix_source.hpp"
#include "tests/unit/as_nobody.hpp"
#include "tests/unit/child_process.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

class OutputGuardTest : public ::testing::Test {
 protected:
  /// Expects that both check_output and the write refuse `output`, and that the bytes of the file to which `output`
  /// leads do not change.
  void expect_refused(const std::string& output, const std::string& fragment, const std::vector<KeptFile>& kept = {},
                      ExitCode code = ExitCode::kUsage) const {
    const std::string before = testing::content_of(output);
    const auto check = [&] { check_output(output, "--output", kept); };
    const auto write = [&] { OutputFile(output, "--output", kept).finish(); };
    for (const std::string& line : {failure_line(check, code), failure_line(write, code)}) {
      EXPECT_TRUE(line.starts_with("--output: ")) << line;
      EXPECT_NE(line.find("'" + output + "'"), std::string::npos) << line;
      EXPECT_NE(line.find(fragment), std::string::npos) << line;
    }
    EXPECT_EQ(testing::content_of(output), before);
  }

  /// Expects the same for the file with its own name, through a symbolic link, and through a hard link.
  void expect_never_replaced(const std::string& file, const std::string& fragment,
                             const std::vector<KeptFile>& kept = {}) const {
    const std::string link = folder_.file("link");
    const std::string hard_link = folder_.file("hard-link");
    fs::create_symlink(file, link);
    fs::create_hard_link(file, hard_link);
    for (const std::string& name : {file, link, hard_link}) expect_refused(name, fragment, kept);
    fs::remove(link);
    fs::remove(hard_link);
  }

  static void expect_allowed(const std::string& output) {
    EXPECT_NO_THROW(check_output(output, "--output", {}));
    EXPECT_NO_THROW(OutputFile(output, "--output").finish());
  }

  std::string make_pool() const {
    const std::string pool = folder_.file("p");
    RingPool::create(pool, RingShape::x_only(1000), 3);
    return pool;
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(OutputGuardTest, ARanksFileIsNeverReplaced) {
  const std::string pool = make_pool();
  write_ranks(pool, {.run_id = {}, .problem_id = {}, .variables = {{.name = "x"}}, .nodes = {{"", "", {{0, {{}}}}}}});
  expect_refused(ranks_path(pool), "is the name of a pool's ranks file");
  expect_never_replaced(ranks_path(pool), "ranks file");
  fs::remove(pool);
  expect_never_replaced(ranks_path(pool), "is a ranks file");
}

TEST_F(OutputGuardTest, APoolIsNeverReplaced) {
  expect_never_replaced(make_pool(), "is a pool");
}

TEST_F(OutputGuardTest, AJournalInPlainFilesIsNeverReplacedWhateverItsName) {
  const std::string pool = folder_.file("p");
  {
    Journal journal = Journal::open(pool, {JournalKind::kFile, 1 << 20}, Storage::kFile, Durability::kProcess);
    ASSERT_EQ(journal.append(std::vector<EncodedRecord>{{1, "a record"}}), 0);
  }
  fs::rename(journal_log_path(pool, 0), folder_.file("kept"));
  expect_never_replaced(folder_.file("kept"), "is a journal");
}

TEST_F(OutputGuardTest, AJournalOfLibpmemlogIsNeverReplacedWhateverItsName) {
  if (!has_pmemlog()) GTEST_SKIP() << "this build has no libpmemlog";
  const std::string pool = folder_.file("p");
  Journal::open(pool, {JournalKind::kPmemlog, 4 << 20}, Storage::kFile, Durability::kProcess);
  fs::rename(journal_log_path(pool, 0), folder_.file("kept"));
  expect_never_replaced(folder_.file("kept"), "is a journal");
}

TEST_F(OutputGuardTest, AMatrixCacheIsNeverReplaced) {
  MatrixOptions matrix;
  matrix.matrix = folder_.write("edges.txt", "0 1\n1 0\n");
  expect_never_replaced(write_cache(matrix, Orientation::kInLinks), "is a matrix cache");
}

TEST_F(OutputGuardTest, TheNameOfAPoolsJournalIsRefusedBeforeThereIsOneAndWhereItIsDamaged) {
  const std::string pool = make_pool();
  expect_refused(pool + ".journal-1", "is the name of a pool's journal");
  folder_.write("p.journal-0", "damaged");
  expect_refused(pool + ".journal-0", "is the name of a pool's journal");
}

TEST_F(OutputGuardTest, ANameThatOnlyEndsAsAJournalsIsAllowed) {
  expect_allowed(folder_.file("notes.journal-0"));
}

TEST_F(OutputGuardTest, WhatTheCommandReadsIsNeverReplaced) {
  const std::string file = folder_.write("input", "precious");
  const std::vector<KeptFile> kept = {{"--rhs", ""}, {"--matrix", file}};
  expect_never_replaced(file, "is also --matrix", kept);
  expect_refused(folder_.path() + "/./input", "is also --matrix", kept);
}

TEST_F(OutputGuardTest, ALinkToAFileThatIsYetToBeMadeIsThatFile) {
  const std::string link = folder_.file("link");
  fs::create_symlink("later/../pool", link);
  fs::create_directory(folder_.file("later"));
  EXPECT_TRUE(same_file(link, folder_.file("pool")));
  expect_refused(link, "is also --pool", {{"--pool", folder_.file("pool")}});
}

TEST_F(OutputGuardTest, APoolThatTookTheNameMeanwhileIsNotReplaced) {
  const std::string output = folder_.file("p");
  OutputFile file(output, "--output");
  file.write("text");
  make_pool();
  const std::string before = testing::content_of(output);
  EXPECT_THROW(file.finish(), Error);
  EXPECT_EQ(testing::content_of(output), before);
}

bool lock_as_owner(int fd) {
  return flock(fd, LOCK_EX | LOCK_NB) == 0;
}

/// The state of a pool between its two locks: the creator no longer holds its own lock, because libpmemobj takes the
/// next one.
bool mark_only(int fd) {
  mark_as_being_made(fd);
  return true;
}

/// Another process that applies `lock` to a file, and holds this lock until the process ends.
testing::ChildProcess locker(const std::string& file, bool (*lock)(int fd)) {
  return testing::ChildProcess([&] { return lock(open(file.c_str(), O_RDWR | O_CLOEXEC)); });
}

TEST_F(OutputGuardTest, AFileThatAnotherProcessIsMakingIsNotReplaced) {
  // The content of a pool or a journal before its first bytes are written.
  for (const auto& content : {std::string(), std::string(3, '\0'), std::string(4096, '\0')}) {
    const std::string file = folder_.write("new", content);
    for (const auto& lock : {lock_as_owner, mark_only}) {
      const testing::ChildProcess other = locker(file, lock);
      ASSERT_TRUE(other.worked());
      expect_refused(file, "is in use by", {}, ExitCode::kSystem);
    }
  }
}

TEST_F(OutputGuardTest, ALockOnATextDoesNotMakeItAPool) {
  const std::string file = folder_.write("text", "{}\n");
  const testing::ChildProcess other = locker(file, lock_as_owner);
  ASSERT_TRUE(other.worked());
  expect_allowed(file);
}

TEST_F(OutputGuardTest, AFileThatThisProcessHasLockedItselfIsReplaced) {
  const std::string file = folder_.write("empty", "");
  const UniqueFd fd(open(file.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(fd.get(), LOCK_EX | LOCK_NB), 0);
  expect_allowed(file);
}

TEST_F(OutputGuardTest, APipeThatNoProcessReadsIsRefusedAtOnce) {
  const std::string pipe = folder_.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ringside::expect_refused([&] { OutputFile(pipe, "--output").finish(); }, "no process reads it", ExitCode::kSystem);
}

TEST_F(OutputGuardTest, APipeThatIsReadIsWrittenTo) {
  const std::string pipe = folder_.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const UniqueFd reader(open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  OutputFile file(pipe, "--output");
  file.write("text");
  file.finish();
  char text[8] = {};
  EXPECT_EQ(read(reader.get(), text, sizeof text), 4);
  EXPECT_STREQ(text, "text");
}

TEST_F(OutputGuardTest, ALinkOrAPipeThatAnotherUserLaidOutInASharedFolderIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make another user's files";
  ASSERT_EQ(chmod(folder_.path().c_str(), 01777), 0);
  const std::string target = folder_.write("target", "precious");
  const std::string link = folder_.file("link");
  const std::string pipe = folder_.file("pipe");
  fs::create_symlink("target", link);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0666), 0);
  for (const std::string& name : {link, pipe}) {
    ASSERT_EQ(lchown(name.c_str(), testing::kNobody, testing::kNobody), 0);
    EXPECT_THROW(check_output(name, "--output", {}), Error) << name;
    EXPECT_THROW(OutputFile(name, "--output"), Error) << name;
  }
  EXPECT_EQ(testing::content_of(target), "precious");
}

TEST_F(OutputGuardTest, AFileThatMayNotBeLookedAtIsNotReplaced) {
  const std::string file = folder_.write("others", "of another user");
  ASSERT_EQ(chmod(file.c_str(), 0), 0);
  ASSERT_EQ(chmod(folder_.path().c_str(), 0777), 0);
  const testing::AsNobody nobody;
  ringside::expect_refused([&] { check_output(file, "--output", {}); }, "Permission denied", ExitCode::kSystem);
  ringside::expect_refused([&] { OutputFile(file, "--output").finish(); }, "Permission denied", ExitCode::kSystem);
}

TEST_F(OutputGuardTest, AFolderIsNamedAsOne) {
  EXPECT_EQ(failure_line([&] { check_output(folder_.path(), "--output", {}); }, ExitCode::kSystem),
            "--output: cannot write '" + folder_.path() + "': found a folder; expected a file");
}

}  // namespace
}  // namespace ringside
