// SPDX-License-Identifier: BSD-3-Clause
// `ringside replay`, and every command that reads a pool while an analyzer writes it.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class ReplayTest : public PipelineTest {
 protected:
  Finished replay(const Words& more = {}) const { return run("ringside", joined({"replay", pool_}, more)); }
};

TEST_F(ReplayTest, TheKeptIteratesEqualTheirRecords) {
  ASSERT_EQ(run_it("grid:50", {"--iterations=12", "--slots=5"}).exit_code, 0);
  const Finished replayed = expect_exit(0, replay({"--json"}));
  EXPECT_EQ(replayed.err, "") << "progress is for terminals";
  const std::vector<Json> objects = json_lines(replayed.out);
  ASSERT_EQ(objects.size(), 6u);
  const Json recorded = pool_info()["iterates"];
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(objects[i]["iteration"], 8 + i);
    EXPECT_EQ(objects[i]["verdict"], "equal");
    EXPECT_EQ(objects[i]["change_left_out"], i == 0);
    EXPECT_GT(objects[i]["residual_l1"], 0);
    if (i == 0) continue;  // the change was recorded, but is not recomputed
    EXPECT_EQ(objects[i]["reductions"], recorded[i]["reductions"]);
  }
  EXPECT_EQ(objects[4]["residual_l1"], summary()["residual_l1"]);
  EXPECT_EQ(objects[5]["equal"], 5);
  EXPECT_TRUE(objects[5]["intact"].get<bool>());

  const Finished table = expect_exit(0, replay());
  expect_has(table.out, {"pagerank of grid:50", "except its change: the previous iterate is no longer kept"});
  EXPECT_EQ(table.out.substr(table.out.rfind('\n', table.out.size() - 2) + 1),
            pool_ + ": 5 iterates: 5 equal to what was recorded\n");
}

TEST_F(ReplayTest, ReducedOnTheWayTheRecordIsTheSameAndReplayAgrees) {
  const auto recorded_by = [&](const Words& more) {
    expect_exit(0, run_it("grid:110", joined({"--iterations=12", "--slots=5", "--overwrite"}, more)));
    Json iterates = pool_info()["iterates"];
    std::vector<Json> reductions;
    for (const Json& iterate : iterates) reductions.push_back(iterate["reductions"]);
    EXPECT_EQ(reductions.size(), 5u);
    return reductions;
  };
  const std::vector<Json> in_the_slot = recorded_by({});
  EXPECT_EQ(summary()["reduce"], "slot");
  for (const Words& more :
       {Words{}, {"--durability=process"}, {"--passes=3"}, {"--coordination=messages", "--durability=process"}}) {
    EXPECT_EQ(recorded_by(joined({"--reduce=transfer"}, more)), in_the_slot);
    EXPECT_EQ(summary()["reduce"], "transfer");
    EXPECT_GT(summary()["transfer_s"], 0);
    EXPECT_GT(summary()["analyze_s"], 0) << "combining and recording what was found, and further passes";
    EXPECT_EQ(json_lines(replay({"--json"}).out).back()["equal"], 5);
  }
}

TEST_F(ReplayTest, ARunThatIsResumedMayReduceElsewhereThanBefore) {
  ASSERT_EQ(run_it("grid:60", {"--iterations=10", "--reduce=transfer"}).exit_code, 0);
  ASSERT_EQ(run_it("grid:60", {"--iterations=13", "--resume"}).exit_code, 0);
  ASSERT_EQ(run_it("grid:60", {"--iterations=16", "--resume", "--reduce=transfer"}).exit_code, 0);
  const std::vector<Json> objects = json_lines(replay({"--json"}).out);
  ASSERT_EQ(objects.size(), 9u);
  for (std::size_t i = 1; i < 8; ++i) {
    EXPECT_EQ(objects[i]["iteration"], 9 + i);
    EXPECT_EQ(objects[i]["verdict"], "equal");
    EXPECT_EQ(objects[i]["change_left_out"], false);
  }
  EXPECT_EQ(objects[8]["equal"], 8);
}

TEST_F(ReplayTest, ARangeIsReplayedWithTheChangeOfItsFirstIterate) {
  ASSERT_EQ(run_it("grid:20", {"--iterations=20", "--every=2"}).exit_code, 0);
  const std::vector<Json> objects = json_lines(replay({"--json", "--from=9", "--to=14"}).out);
  ASSERT_EQ(objects.size(), 4u);
  EXPECT_EQ(objects[0]["iteration"], 10);
  EXPECT_EQ(objects[0]["change_left_out"], false);
  EXPECT_EQ(objects[0]["verdict"], "equal");
  EXPECT_EQ(objects[2]["iteration"], 14);
  EXPECT_EQ(objects[3]["iterates"], 3);
}

TEST_F(ReplayTest, RangesThatAreNotKeptAndMissingPoolsAreRefused) {
  EXPECT_EQ(replay().exit_code, 2);
  ASSERT_EQ(run_it("grid:20", {"--iterations=20"}).exit_code, 0);
  const auto expect_refused = [&](const Words& arguments, const Words& fragments) {
    const Finished refused = expect_exit(2, replay(arguments));
    EXPECT_EQ(refused.out, "");
    expect_one_line(refused.err, fragments);
  };
  expect_refused({"--from=21"}, {"--from 21", "kept are 13 to 20"});
  expect_refused({"--to=12"}, {"--to 12", "kept are 13 to 20"});
  expect_refused({"--from=2", "--to=5"}, {"--from 2 --to 5", "kept are 13 to 20"});
  expect_refused({"--from=15", "--to=14"}, {"--from 15", "--to 14"});
  expect_refused({"--from=first"}, {"--from", "first", "a number"});
  expect_refused({"--to=-1"}, {"--to", "-1", "a number"});
  expect_refused({"--from=0x10"}, {"--from", "0x10", "a number"});
  expect_refused({"--to=18446744073709551618"}, {"--to", "18446744073709551618", "a number"});
}

TEST_F(ReplayTest, WithAnyNumberOfThreadsTheBitsAreTheSame) {
  ASSERT_EQ(run_it("grid:200", {"--iterations=5"}).exit_code, 0);
  for (const char* threads : {"1", "3"}) {
    for (const char* isa : {"plain", "avx2"}) {
      const Finished replayed = run("ringside", {"replay", pool_}, [&] {
        setenv("OMP_NUM_THREADS", threads, 1);
        setenv("RINGSIDE_ISA", isa, 1);
      });
      EXPECT_EQ(replayed.exit_code, 0) << threads << " " << isa << "\n" << replayed.out;
    }
  }
}

TEST_F(ReplayTest, BesideARunningAnalyzerNothingIsEverDamaged) {
  Process running("ringside", run_arguments("grid:60", {kEndless, "--slots=3", "--quiet"}));
  const auto kept = [&] {
    const Finished info = run("ringside", {"info", pool_, "--json"});
    return info.exit_code == 0 ? Json::parse(info.out)["kept"].get<int>() : 0;
  };
  while (kept() < 2) ASSERT_TRUE(running.running());

  int overwritten = 0;
  for (int i = 0; i < (testing::kSanitized ? 8 : 25); ++i) {
    const std::vector<Json> objects = json_lines(expect_exit(0, replay({"--json"})).out);
    EXPECT_EQ(objects.back()["differs"], 0);
    overwritten += objects.back()["overwritten"].get<int>();
    expect_done({"verify", pool_});
    expect_done({"info", pool_});
    // The exit code is 3 if the newest iterate was overwritten a hundred times while it was read.
    const Finished exported = run("ringside", {"export", pool_, "--output", folder_.file("x.npy")});
    EXPECT_TRUE(exported.exit_code == 0 || exported.exit_code == 3) << exported.err;
  }
  RecordProperty("overwritten", overwritten);
  expect_exit(130, running.stop(SIGINT));
  const std::vector<Json> objects = json_lines(replay({"--json"}).out);
  EXPECT_EQ(objects.back()["equal"], 3) << "what was kept at its end is all there";
}

}  // namespace
}  // namespace ringside
