// SPDX-License-Identifier: BSD-3-Clause
// From some call on, the disk refuses every sync, whether this code calls it or libpmemobj, which would abort the
// process. Each call of a run is the first to fail once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "tests/pipeline/disk/with_failing_disk.hpp"

namespace ringside {
namespace {

using testing::Finished;
using testing::PipelineTest;
using testing::run;

class FailingSyncsTest : public PipelineTest {
 protected:
  /// The number of the analyzer's calls that can fail.
  long syncs_of(const std::vector<std::string>& arguments) const {
    const std::string counted = folder_.file("syncs");
    std::filesystem::remove(counted);
    expect_exit(0, run("ringside", arguments, testing::with_failing_disk("RINGSIDE_TEST_SYNCS_COUNTED_IN", counted)));
    return static_cast<long>(std::filesystem::file_size(counted));
  }

  /// Expects exit code 3 and one line of Ringside's, or 0 if everything that had to be synced was.
  void expect_controlled_end(const Finished& ran) const {
    EXPECT_EQ(ran.death_signal, 0) << ran.err;
    EXPECT_EQ(ran.err.find("signal"), std::string::npos) << ran.err;
    if (ran.exit_code == 0) {
      EXPECT_EQ(summary()["steps_persisted"], summary()["steps_published"]);
      return;
    }
    EXPECT_EQ(ran.exit_code, 3) << ran.err;
    testing::expect_has(ran.err, {"Input/output error"});
    expect_one_line(ran.err, {"ringside: ", pool_});
  }

  std::uint64_t newest_intact() const {
    expect_exit(0, run("ringside", {"verify", pool_, "--json"}));
    const Json info = pool_info();
    return info["iterates"].empty() ? 0 : info["iterates"].back()["iteration"].get<std::uint64_t>();
  }

  /// Persisted steps of the run that ended; 0 if it was refused before it began.
  std::uint64_t steps_persisted() const {
    if (!std::filesystem::exists(summary_)) return 0;
    const Json persisted = summary()["steps_persisted"];
    return persisted.is_number() ? persisted.get<std::uint64_t>() : 0;
  }

  static constexpr long kMostSyncs = 400;
};

TEST_F(FailingSyncsTest, WhicheverSyncOfANewPoolIsTheFirstToFailTheRunEndsWithExitCode3) {
  const std::vector<std::string> arguments = run_arguments("grid:20", {"--slots=3", "--iterations=6", "--quiet"});
  const long syncs = syncs_of(arguments);
  ASSERT_GT(syncs, 20) << "libpmemobj's own are not among them";
  ASSERT_LT(syncs, kMostSyncs);
  long failed = 0;
  for (long from = 1; from <= syncs; ++from) {
    SCOPED_TRACE("from sync " + std::to_string(from));
    std::filesystem::remove(pool_);
    std::filesystem::remove(summary_);
    const Finished ran =
        run("ringside", arguments, testing::with_failing_disk("RINGSIDE_TEST_SYNCS_FAIL_FROM", std::to_string(from)));
    expect_controlled_end(ran);
    failed += ran.exit_code == 3 ? 1 : 0;
    if (!std::filesystem::exists(pool_)) continue;  // a failed creation leaves nothing behind
    EXPECT_GE(newest_intact(), steps_persisted());
  }
  EXPECT_GT(failed, syncs / 2);
}

TEST_F(FailingSyncsTest, WhicheverSyncOfAKeptPoolIsTheFirstToFailItsIteratesAreFound) {
  const std::string kept = folder_.file("kept.pool");
  const std::vector<std::string> first = run_arguments("grid:20", {"--slots=3", "--iterations=6", "--quiet"});
  ASSERT_EQ(run("ringside", first).exit_code, 0);
  std::filesystem::copy_file(pool_, kept);
  const std::vector<std::string> resumed =
      run_arguments("grid:20", {"--resume", "--iterations=12", "--quiet", "--journal=off"});
  const long syncs = syncs_of(resumed);
  ASSERT_GT(syncs, 4);
  ASSERT_LT(syncs, kMostSyncs);
  for (long from = 1; from <= syncs; ++from) {
    SCOPED_TRACE("from sync " + std::to_string(from));
    std::filesystem::copy_file(kept, pool_, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::remove(summary_);
    const Finished ran =
        run("ringside", resumed, testing::with_failing_disk("RINGSIDE_TEST_SYNCS_FAIL_FROM", std::to_string(from)));
    expect_controlled_end(ran);
    EXPECT_GE(newest_intact(), 6 + steps_persisted());
  }
}

TEST_F(FailingSyncsTest, ARunThatSyncsNothingNoticesThatItsDiskHasFailed) {
  const std::vector<std::string> more = {"--overwrite", "--slots=3", "--durability=process", "--journal=off", "--quiet"};
  std::vector<std::string> to_count = run_arguments("grid:20", more);
  ASSERT_EQ(run("ringside", to_count).exit_code, 0);
  const long syncs = syncs_of(to_count);  // the last but one looks at the disk, the last one ends the run
  std::vector<std::string> endless = run_arguments("grid:20", more);
  endless.insert(endless.end(), {"--iterations=1000000000", "--tolerance=0"});
  const Finished ran =
      run("ringside", endless, testing::with_failing_disk("RINGSIDE_TEST_SYNCS_FAIL_FROM", std::to_string(syncs - 1)));
  expect_controlled_end(ran);
  EXPECT_TRUE(summary()["steps_committed"].is_number()) << "the run had begun";
  EXPECT_EQ(ran.exit_code, 3) << ran.err;
}

TEST_F(FailingSyncsTest, WhicheverSyncFailsAFreezeIsWrittenOrSaidToBeLost) {
  const std::vector<std::string> arguments =
      run_arguments("grid:20", {"--overwrite", "--slots=3", "--iterations=6", "--durability=process",
                                "--trigger=iteration == 4: freeze"});
  ASSERT_EQ(run("ringside", arguments).exit_code, 0);  // else nearly all syncs are those of a new pool
  const long syncs = syncs_of(arguments);
  ASSERT_GT(syncs, 2);
  ASSERT_LT(syncs, kMostSyncs);
  int lost = 0;
  for (long from = 1; from <= syncs; ++from) {
    SCOPED_TRACE("from sync " + std::to_string(from));
    const Finished ran =
        run("ringside", arguments, testing::with_failing_disk("RINGSIDE_TEST_SYNCS_FAIL_FROM", std::to_string(from)));
    EXPECT_TRUE(ran.exit_code == 0 || ran.exit_code == 3) << ran.exit_code << ran.err;
    if (ran.err.find("frozen since iteration 4") == std::string::npos) continue;  // the run had ended before
    if (summary()["freeze_error"].is_null()) {
      EXPECT_TRUE(std::filesystem::exists(pool_ + ".freeze"));
      continue;
    }
    ++lost;
    testing::expect_has(ran.err, {"cannot be written (Input/output error)"});
    EXPECT_EQ(summary()["freeze_error"], "Input/output error");
    testing::expect_has(ran.out, {"NO LONGER"});
  }
  EXPECT_GT(lost, 0);
}

TEST_F(FailingSyncsTest, WhicheverSyncOfALibpmemlogJournalFailsNothingIsAborted) {
  const std::vector<std::string> arguments = run_arguments(
      "grid:20",
      {"--overwrite", "--slots=3", "--iterations=6", "--quiet", "--durability=process", "--journal=pmemlog"});
  if (run("ringside", arguments).exit_code == 2) GTEST_SKIP() << "this build has no libpmemlog";
  const auto forget_journal = [this] {
    for (const char* log : {".journal-0", ".journal-1"}) std::filesystem::remove(pool_ + log);
  };
  forget_journal();
  const long syncs = syncs_of(arguments);
  ASSERT_GT(syncs, 6);
  ASSERT_LT(syncs, kMostSyncs);
  for (long from = 1; from <= syncs; ++from) {
    SCOPED_TRACE("from sync " + std::to_string(from));
    forget_journal();
    const Finished ran =
        run("ringside", arguments, testing::with_failing_disk("RINGSIDE_TEST_SYNCS_FAIL_FROM", std::to_string(from)));
    EXPECT_TRUE(ran.exit_code == 0 || ran.exit_code == 3) << ran.exit_code << ran.err;
    EXPECT_EQ(ran.err.find("signal"), std::string::npos) << ran.err;
    newest_intact();
  }
}

}  // namespace
}  // namespace ringside
