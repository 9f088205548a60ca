// SPDX-License-Identifier: BSD-3-Clause
// Pools and journals that belong, or may belong, to another user: without --foreign-pool, nothing is written to them.
#include "analyzer/pool/foreign_file.hpp"

#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "analyzer/journal/journal.hpp"
#include "analyzer/pool/ring_admission.hpp"
#include "common/platform/error.hpp"
#include "common/pool_reader/ring_reader.hpp"
#include "tests/unit/analyzer/pool/offered_run.hpp"
#include "tests/unit/as_nobody.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kForeignRows = 2500;

/// A folder such as /tmp: any user may make files in it, and only their owners may remove them.
class ForeignFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can make files of several users";
    ASSERT_EQ(chmod(folder_.path().c_str(), 01777), 0);
  }

  RingOptions options() const { return pool_options(path_, 3); }
  RingOptions with_foreign_pool() const {
    RingOptions allowing = options();
    allowing.foreign_pool = true;
    return allowing;
  }
  Admission ask(const RunDescription& run, PoolUse use) const { return admit(options(), offered(run), use); }
  Admission ask_allowing(const RunDescription& run, PoolUse use) const {
    return admit(with_foreign_pool(), offered(run), use);
  }

  static void keep_something(const std::string& path) { make_pool(path, 3, run_of(kForeignRows), 1); }
  static void give_to_nobody(const std::string& path) {
    ASSERT_EQ(lchown(path.c_str(), testing::kNobody, testing::kNobody), 0);
  }

  static void expect_refused(const std::function<void()>& action, const std::string& part) {
    const std::string line = failure_line(action, ExitCode::kSystem);
    EXPECT_NE(line.find("--foreign-pool"), std::string::npos) << line;
    EXPECT_NE(line.find(part), std::string::npos) << line;
  }

  /// Expects that every writer is refused and that the pool does not change. With --foreign-pool, expects that the pool
  /// may be used.
  void expect_refused_by_all(const std::string& part) const {
    const std::string before = testing::content_of(path_);
    for (const PoolUse use : {PoolUse::kFresh, PoolUse::kOverwrite, PoolUse::kResume, PoolUse::kFreshAgain}) {
      expect_refused([&] { ask(run_of(kForeignRows, 9), use); }, part);
    }
    expect_refused([&] { check_pool(options()); }, part);
    expect_refused([&] { refuse_foreign_iterates(options()); }, part);
    EXPECT_EQ(testing::content_of(path_), before);
    EXPECT_EQ(RingReader::open(path_).recover().kept.size(), 1u) << "reading is allowed";
    EXPECT_NO_THROW(check_pool(with_foreign_pool()));
    EXPECT_NO_THROW(ask_allowing(run_of(kForeignRows, 9), PoolUse::kOverwrite));
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.file("x.pool");
};

TEST_F(ForeignFileTest, APoolOfAnotherUserIsNotWritten) {
  keep_something(path_);
  give_to_nobody(path_);
  expect_refused_by_all("belongs to user nobody");
}

TEST_F(ForeignFileTest, APoolThatBelongsToAnotherUserAsSoonAsItIsMadeIsNotKept) {
  setfsuid(testing::kNobody);  // as on a mount whose new files belong to a fixed user
  expect_refused([&] { ask(run_of(kForeignRows), PoolUse::kFresh); }, "belongs to user nobody");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  EXPECT_NO_THROW(ask_allowing(run_of(kForeignRows), PoolUse::kFresh));
  const std::string before = testing::content_of(path_);
  EXPECT_NO_THROW(ask_allowing(run_of(2 * kForeignRows), PoolUse::kOverwrite)) << "a pool of another shape";
  EXPECT_NE(testing::content_of(path_), before);
  fs::resize_file(path_, 0);
  expect_refused([&] { ask(run_of(kForeignRows), PoolUse::kOverwrite); }, "belongs to user nobody");
  EXPECT_NO_THROW(ask_allowing(run_of(kForeignRows), PoolUse::kOverwrite)) << "an unfinished pool";
  setfsuid(0);
}

TEST_F(ForeignFileTest, AnUnfinishedPoolOfAnotherUserIsNotReplaced) {
  std::ofstream(path_) << std::string(10'000'000, '\0');
  give_to_nobody(path_);
  expect_refused([&] { ask(run_of(kForeignRows), PoolUse::kOverwrite); }, "belongs to user nobody");
  expect_refused([&] { check_pool(options()); }, "belongs to user nobody");
}

TEST_F(ForeignFileTest, APoolWithASecondNameIsNotWritten) {
  keep_something(path_);
  fs::create_hard_link(path_, folder_.file("precious.pool"));
  expect_refused_by_all("2 names");
}

TEST_F(ForeignFileTest, ALinkOfAnotherUserIsNotFollowed) {
  keep_something(folder_.file("precious.pool"));
  fs::create_symlink(folder_.file("precious.pool"), path_);
  EXPECT_NO_THROW(check_pool(options())) << "one's own link";
  give_to_nobody(path_);
  expect_refused_by_all("the symbolic link '" + path_ + "' belongs to user nobody");
}

TEST_F(ForeignFileTest, ALinkOfAnotherUserOnTheWayToAPoolIsNotFollowed) {
  fs::create_directory(folder_.file("real"));
  fs::create_symlink("real", folder_.file("link"));
  path_ = folder_.file("link/../link/x.pool");
  keep_something(path_);
  EXPECT_NO_THROW(check_pool(options()));
  give_to_nobody(folder_.file("link"));
  expect_refused([&] { check_pool(options()); }, "belongs to user nobody");
  fs::remove(folder_.file("real/x.pool"));
  expect_refused([&] { ask(run_of(kForeignRows), PoolUse::kFresh); }, "belongs to user nobody");
  EXPECT_TRUE(fs::is_empty(folder_.file("real")));
}

TEST_F(ForeignFileTest, LinksOfRootAreFollowedByEverybody) {
  fs::create_directory(folder_.file("real"));
  ASSERT_EQ(chmod(folder_.file("real").c_str(), 01777), 0);
  fs::create_symlink("real", folder_.file("link"));
  const testing::AsNobody nobody;
  EXPECT_NO_THROW(refuse_foreign_links(folder_.file("link/x.pool")));
}

TEST_F(ForeignFileTest, AFileThatAnotherOneHasReplacedIsNotTheOneThatWasOpened) {
  std::ofstream(folder_.file("opened")) << "x";
  fs::create_symlink("opened", folder_.file("name"));
  struct stat opened {};
  ASSERT_EQ(stat(folder_.file("name").c_str(), &opened), 0);
  EXPECT_NO_THROW(refuse_foreign_links(folder_.file("name"), opened));
  fs::remove(folder_.file("name"));
  EXPECT_THROW(refuse_foreign_links(folder_.file("name"), opened), Error);
  std::ofstream(folder_.file("name")) << "y";
  expect_refused([&] { refuse_foreign_links(folder_.file("name"), opened); },
                 "leads to another file than a moment ago");
}

TEST_F(ForeignFileTest, LinksThatGoRoundEndTheWalk) {
  fs::create_symlink("b", folder_.file("a"));
  fs::create_symlink("a", folder_.file("b"));
  EXPECT_NO_THROW(refuse_foreign_links(folder_.file("a/x.pool")));
}

TEST_F(ForeignFileTest, AJournalOfAnotherUserIsNotWritten) {
  keep_something(path_);
  const std::string log = journal_log_path(path_, 0);
  std::ofstream(log).flush();
  give_to_nobody(log);
  JournalOptions journal;
  journal.kind = JournalKind::kFile;
  expect_refused([&] { Journal::open(path_, journal, Storage::kFile, Durability::kProcess); },
                 "belongs to user nobody");
  EXPECT_EQ(fs::file_size(log), 0u);
  journal.foreign = true;
  EXPECT_NO_THROW(Journal::open(path_, journal, Storage::kFile, Durability::kProcess));
}

TEST_F(ForeignFileTest, AJournalWithASecondNameIsNotWritten) {
  JournalOptions journal;
  journal.kind = JournalKind::kFile;
  { const Journal made = Journal::open(path_, journal, Storage::kFile, Durability::kProcess); }
  fs::create_hard_link(journal_log_path(path_, 1), folder_.file("other"));
  expect_refused([&] { Journal::open(path_, journal, Storage::kFile, Durability::kProcess); }, "2 names");
}

}  // namespace
}  // namespace ringside
