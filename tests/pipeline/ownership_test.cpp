// SPDX-License-Identifier: BSD-3-Clause
// What runs and readers report about the user and the pool to which files belong, and about files that no longer exist
// at the end.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

#include "tests/pipeline/pipeline_fixture.hpp"
#include "tests/unit/as_nobody.hpp"

namespace ringside {
namespace {

using namespace testing::names;

using OwnershipTest = PipelineTest;

TEST_F(OwnershipTest, APoolOfAnotherUserIsReadAndNotWritten) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files to others";
  keep_a_run();
  ASSERT_EQ(chown(pool_.c_str(), testing::kNobody, testing::kNobody), 0);
  for (const char* use : {"--overwrite", "--resume", "--quiet"}) {
    expect_refusal(3, run("ringside", run_arguments("grid:20", {use})),
                   {pool_, "belongs to user nobody", "--foreign-pool"});
  }
  const Finished service = run("ringside-analyzer", {"--pool", pool_, "--socket", socket_}, [] { alarm(60); });
  EXPECT_EQ(service.exit_code, 3);
  expect_one_line(service.err, {pool_, "belongs to user nobody", "--foreign-pool"});
  for (const char* command : {"info", "verify", "replay"}) expect_done({command, pool_});
  expect_exit(0, run_it("grid:20", {"--overwrite", "--foreign-pool", "--iterations=3"}));
}

TEST_F(OwnershipTest, APoolWithASecondNameIsReadAndNotWritten) {
  keep_a_run();
  std::filesystem::create_hard_link(pool_, folder_.file("other.pool"));
  const std::string before = content_of(pool_);
  for (const char* use : {"--overwrite", "--resume", "--quiet"}) {
    expect_refusal(3, run("ringside", run_arguments("grid:20", {use})), {pool_, "2 names", "--foreign-pool"});
  }
  EXPECT_EQ(content_of(pool_), before);
  expect_done({"verify", pool_});
  EXPECT_EQ(run_it("grid:20", {"--overwrite", "--foreign-pool"}).exit_code, 0);
}

TEST_F(OwnershipTest, WipeDestroysOnlyWhatIsThisUsersOwnAndReachedByItsOwnNames) {
  keep_a_run();
  const std::string before = content_of(pool_);
  const auto expect_refused = [&](const std::string& name, const std::string& why) {
    expect_refusal(3, run("ringside", {"wipe", "--yes", name}), {name, why, "--foreign-pool"});
    EXPECT_EQ(content_of(pool_), before);
  };
  const std::string other = folder_.file("other.pool");
  std::filesystem::create_hard_link(pool_, other);
  expect_refused(other, "2 names");
  expect_refused(pool_, "2 names");
  std::filesystem::remove(other);
  if (geteuid() == 0) {
    std::filesystem::create_symlink(pool_, other);
    ASSERT_EQ(lchown(other.c_str(), testing::kNobody, testing::kNobody), 0);
    expect_refused(other, "the symbolic link");
    std::filesystem::remove(other);
    ASSERT_EQ(chown((pool_ + ".journal-0").c_str(), testing::kNobody, testing::kNobody), 0);
    expect_refusal(3, run("ringside", {"wipe", "--yes", pool_}), {pool_ + ".journal-0", "belongs to user nobody"});
    EXPECT_EQ(content_of(pool_), before);
  }
  expect_done({"wipe", "--yes", "--foreign-pool", pool_});
  EXPECT_FALSE(std::filesystem::exists(pool_));
}

TEST_F(OwnershipTest, AJournalOfAnotherUserIsNotWritten) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files to others";
  write_file("test.pool.journal-0", "");
  ASSERT_EQ(chown((pool_ + ".journal-0").c_str(), testing::kNobody, testing::kNobody), 0);
  expect_refusal(3, run("ringside", run_arguments("grid:20")),
                 {pool_ + ".journal-0", "belongs to user nobody", "--foreign-pool"});
  EXPECT_FALSE(std::filesystem::exists(pool_));
  EXPECT_EQ(run_it("grid:20", {"--journal=off", "--iterations=3"}).exit_code, 0);
}

TEST_F(OwnershipTest, AJournalOfAnotherPoolIsNamedByAllThatShowIt) {
  const std::string other = folder_.file("other.pool");
  keep_a_run();
  // Made later, because a journal that is older than the pool's runs may be the pool's own.
  expect_done({"run", "--matrix=grid:20", "--pool=" + other, "--quiet", "--iterations=7"});
  for (const char* log : {".journal-0", ".journal-1"}) {
    std::filesystem::copy(other + log, pool_ + log, std::filesystem::copy_options::overwrite_existing);
  }
  const std::string said = "does not belong to this pool";
  expect_has(expect_done({"info", pool_}).out, {said});
  expect_has(pool_info()["journal"]["foreign"].text(), {said});
  expect_refusal(5, run("ringside", {"tail", "--pool", pool_, "--json"}), {pool_, said});
  const Finished replay = expect_exit(5, run("ringside", {"replay", pool_}));
  expect_has(replay.out, {said});
  expect_has(expect_exit(5, run("ringside", {"replay", pool_, "--json"})).out, {said});
  expect_done({"report", pool_, "-o", folder_.file("r.html")});
  expect_has(content_of(folder_.file("r.html")), {said});
}

TEST_F(OwnershipTest, AJournalThatIsOlderThanThePoolsRunsIsItsOwn) {
  keep_a_run();
  // The kept run has no record. The previous run has records, and the pool lists that run.
  ASSERT_EQ(run_it("grid:20", {"--overwrite", "--journal=off", "--iterations=4"}).exit_code, 0);
  expect_done({"replay", pool_});
  EXPECT_EQ(pool_info()["journal"]["foreign"], "");
  // A pool with another shape replaces the pool. The new pool's run is in the journal after the runs of the replaced
  // pool.
  ASSERT_EQ(run_it("grid:30", {"--overwrite", "--iterations=4"}).exit_code, 0);
  expect_done({"replay", pool_});
  expect_done({"tail", "--pool", pool_});
  // A journal without a pool is still shown.
  std::filesystem::remove(pool_);
  expect_done({"tail", "--pool", pool_});
}

TEST_F(OwnershipTest, AJournalFromBeforeThePoolWasMadeAnewIsCalledOlderAndNotDamaged) {
  keep_a_run();
  ASSERT_EQ(run_it("grid:30", {"--overwrite", "--journal=off", "--iterations=4"}).exit_code, 0);
  const std::string said = "is older than all of them";
  for (const Finished& shown : {run("ringside", {"info", pool_}), run("ringside", {"replay", pool_})}) {
    EXPECT_EQ(shown.exit_code, 0) << shown.out;
    expect_has(shown.out, {said});
  }
  for (const char* command : {"info", "replay"}) {
    expect_has(expect_done({command, pool_, "--json"}).out, {said});
  }
  expect_refusal(0, run("ringside", {"tail", "--pool", pool_}), {pool_, said});
  expect_done({"report", pool_, "-o", folder_.file("r.html")});
  expect_has(content_of(folder_.file("r.html")), {said});
}

TEST_F(OwnershipTest, AJournalIsThePoolsOwnHoweverManyRunsFollowWithoutOne) {
  keep_a_run();
  for (int life = 0; life < 12; ++life) {  // more runs than the ring can name
    ASSERT_EQ(run_it("grid:20", {"--overwrite", "--journal=off", "--iterations=4"}).exit_code, 0);
  }
  expect_done({"replay", pool_});
  const Json journal = pool_info()["journal"];
  expect_values(journal, {{"foreign", ""}, {"older", ""}});
}

TEST_F(OwnershipTest, APoolDeletedDuringTheRunIsReportedAsMissing) {
  Process running("ringside", run_arguments("grid:20", {kEndless}));
  ASSERT_TRUE(wait_for_commits(3));
  std::filesystem::remove(pool_);
  const Finished ended = expect_exit(3, running.stop(SIGINT));
  expect_has(ended.err, {pool_ + ": the pool was deleted during the run"});
  expect_has(ended.out, {"the pool is no longer at"});
  expect_lacks(ended.out, {"the last 8 are in"});
  EXPECT_GE(summary()["steps_committed"], 3);
}

TEST_F(OwnershipTest, APoolThatAnotherFileReplacedDuringTheRunIsSaidToBeMoved) {
  Process running("ringside", run_arguments("grid:20", {kEndless}));
  ASSERT_TRUE(wait_for_commits(3));
  std::filesystem::rename(pool_, folder_.file("moved.pool"));
  write_file("test.pool", "somebody's letter\n");
  expect_has(expect_exit(3, running.stop(SIGINT)).err, {pool_ + ": the pool was moved during the run"});
  expect_done({"verify", folder_.file("moved.pool")});
}

TEST_F(OwnershipTest, AServiceEndsWhereItsPoolIsGoneAtTheEndOfARun) {
  Service analyzer({"--socket", socket_, "--pool", pool_});
  Process producer("ringside-producer", {"--matrix=grid:20", "--socket=" + socket_, kEndless});
  ASSERT_TRUE(wait_for_commits(3));
  std::filesystem::remove(pool_);
  expect_exit(3, producer.stop(SIGINT));
  expect_has(expect_exit(3, analyzer.finish()).err, {"event=pool_gone"});
}

}  // namespace
}  // namespace ringside
