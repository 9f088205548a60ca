// SPDX-License-Identifier: BSD-3-Clause
// From a certain call on, every sync fails, both the syncs of Ringside and those of libpmemobj, which would abort the
// process. In these tests, each sync of a run is once the first to fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/pipeline/disk/with_failing_disk.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class FailingSyncsTest : public PipelineTest {
 protected:
  /// The number of the analyzer's calls that can fail.
  long syncs_of(const Words& arguments) const {
    const std::string counted = folder_.file("syncs");
    std::filesystem::remove(counted);
    expect_done(arguments, testing::with_failing_disk("RINGSIDE_TEST_SYNCS_COUNTED_IN", counted));
    return static_cast<long>(std::filesystem::file_size(counted));
  }

  /// Expects exit code 3 and one line in the form of Ringside's errors, or exit code 0 if everything that had to be
  /// synced was synced.
  void expect_controlled_end(const Finished& ran) const {
    EXPECT_EQ(ran.death_signal, 0) << ran.err;
    expect_lacks(ran.err, {"signal"});
    if (ran.exit_code == 0) {
      EXPECT_EQ(summary()["steps_persisted"], summary()["steps_published"]);
      return;
    }
    EXPECT_EQ(ran.exit_code, 3) << ran.err;
    expect_has(ran.err, {"Input/output error"});
    expect_one_line(ran.err, {"ringside: ", pool_});
  }

  std::uint64_t newest_intact() const {
    expect_done({"verify", pool_, "--json"});
    const Json info = pool_info();
    return info["iterates"].empty() ? 0 : info["iterates"].back()["iteration"].get<std::uint64_t>();
  }

  /// The number of persisted steps of the ended run; 0 if the run was refused before it began.
  std::uint64_t steps_persisted() const {
    if (!std::filesystem::exists(summary_)) return 0;
    const Json persisted = summary()["steps_persisted"];
    return persisted.is_number() ? persisted.get<std::uint64_t>() : 0;
  }

  static Finished run_failing_from(long sync, const Words& arguments) {
    return run("ringside", arguments,
               testing::with_failing_disk("RINGSIDE_TEST_SYNCS_FAIL_FROM", std::to_string(sync)));
  }

  /// For each sync, makes a run in which this sync is the first to fail, and passes the end of that run to `check`.
  /// Expects more than `least` syncs.
  template <class Before, class Check>
  void fail_from_each_sync(const Words& arguments, long least, const Before& before, const Check& check) const {
    const long syncs = syncs_of(arguments);
    ASSERT_GT(syncs, least);
    ASSERT_LT(syncs, 400);
    for (long from = 1; from <= syncs; ++from) {
      SCOPED_TRACE("from sync " + std::to_string(from));
      before();
      check(run_failing_from(from, arguments));
    }
  }
};

TEST_F(FailingSyncsTest, WhicheverSyncOfANewPoolIsTheFirstToFailTheRunEndsWithExitCode3) {
  const auto forget = [this] {
    std::filesystem::remove(pool_);
    std::filesystem::remove(summary_);
  };
  int runs = 0;
  int failed = 0;
  const auto check = [&](const Finished& ran) {
    expect_controlled_end(ran);
    ++runs;
    failed += ran.exit_code == 3 ? 1 : 0;
    if (!std::filesystem::exists(pool_)) return;  // a failed creation leaves nothing behind
    EXPECT_GE(newest_intact(), steps_persisted());
  };
  // Fewer than 20 syncs would mean that the syncs of libpmemobj are not counted.
  fail_from_each_sync(run_arguments("grid:20", {"--slots=3", "--iterations=6", "--quiet"}), 20, forget, check);
  EXPECT_GT(failed, runs / 2);
}

TEST_F(FailingSyncsTest, WhicheverSyncOfAKeptPoolIsTheFirstToFailItsIteratesAreFound) {
  const std::string kept = folder_.file("kept.pool");
  expect_exit(0, run_it("grid:20", {"--slots=3", "--iterations=6", "--quiet"}));
  std::filesystem::copy_file(pool_, kept);
  const auto restore = [&] {
    std::filesystem::copy_file(kept, pool_, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::remove(summary_);
  };
  const auto check = [&](const Finished& ran) {
    expect_controlled_end(ran);
    EXPECT_GE(newest_intact(), 6 + steps_persisted());
  };
  const Words resumed = run_arguments("grid:20", {"--resume", "--iterations=12", "--quiet", "--journal=off"});
  fail_from_each_sync(resumed, 4, restore, check);
}

TEST_F(FailingSyncsTest, ARunThatSyncsNothingNoticesThatItsDiskHasFailed) {
  const Words more = {"--overwrite", "--slots=3", "--durability=process", "--journal=off", "--quiet"};
  const Words to_count = run_arguments("grid:20", more);
  expect_done(to_count);
  const long syncs = syncs_of(to_count);  // the second to last call checks the disk, the last call ends the run
  const Finished ran = run_failing_from(syncs - 1, joined(to_count, {"--iterations=1000000000", "--tolerance=0"}));
  expect_controlled_end(ran);
  EXPECT_TRUE(summary()["steps_committed"].is_number()) << "the run had begun";
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
}

TEST_F(FailingSyncsTest, WhicheverSyncFailsAFreezeIsWrittenOrSaidToBeLost) {
  const Words arguments = run_arguments("grid:20", {"--overwrite", "--slots=3", "--iterations=6",
                                                    "--durability=process", "--trigger=iteration == 4: freeze"});
  expect_done(arguments);  // otherwise nearly all syncs would be for a new pool
  int lost = 0;
  const auto check = [&](const Finished& ran) {
    EXPECT_TRUE(ran.exit_code == 0 || ran.exit_code == 3) << ran.exit_code << ran.err;
    if (ran.err.find("frozen since iteration 4") == std::string::npos) return;  // the run had ended before
    if (summary()["freeze_error"].is_null()) {
      EXPECT_TRUE(std::filesystem::exists(pool_ + ".freeze"));
      return;
    }
    ++lost;
    expect_has(ran.err, {"cannot be written (Input/output error)"});
    EXPECT_EQ(summary()["freeze_error"], "Input/output error");
    expect_has(ran.out, {"NO LONGER"});
  };
  fail_from_each_sync(
      arguments, 2, [] {}, check);
  EXPECT_GT(lost, 0);
}

TEST_F(FailingSyncsTest, WhicheverSyncOfALibpmemlogJournalFailsNothingIsAborted) {
  const Words arguments = run_arguments("grid:20", {"--overwrite", "--slots=3", "--iterations=6", "--quiet",
                                                    "--durability=process", "--journal=pmemlog"});
  if (run("ringside", arguments).exit_code == 2) GTEST_SKIP() << "this build has no libpmemlog";
  const auto forget_journal = [this] {
    for (const char* log : {".journal-0", ".journal-1"}) std::filesystem::remove(pool_ + log);
  };
  forget_journal();
  fail_from_each_sync(arguments, 6, forget_journal, [&](const Finished& ran) {
    EXPECT_TRUE(ran.exit_code == 0 || ran.exit_code == 3) << ran.exit_code << ran.err;
    expect_lacks(ran.err, {"signal"});
    newest_intact();
  });
}

}  // namespace
}  // namespace ringside
