// SPDX-License-Identifier: BSD-3-Clause
// `ringside plan -- PROGRAM` and `ringside run --cores auto -- PROGRAM`: the program is started several times before a
// choice is made, and nothing of these starts remains.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/pipeline/program/program_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;
using testing::ProgramTest;

class ProgramTrialsTest : public ProgramTest {
 protected:
  Words plan(const Words& program, const Words& options = {}) const {
    return joined(joined(joined({"plan", "--pool=" + pool_, "--durability=process"}, options), {"--"}), program);
  }
  /// A program that publishes until it is killed.
  static Words endless() { return {testing::kScripted, "attach", "publish", "1000000000"}; }

  void expect_no_folder_of_a_trial() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      EXPECT_FALSE(entry.path().filename().string().starts_with("ringside-trial-")) << entry.path();
    }
  }
};

TEST_F(ProgramTrialsTest, APlanShowsEachTrialAndKeepsNothing) {
  const Finished ran = expect_done(plan(endless()));
  expect_has(ran.out, {"ringside plan: trials of " + testing::kScripted, "a step   90 % lie between",
                       "--durability process", "\n  * "});
  expect_has(ran.err, {"times for 20 steps each"});
  EXPECT_FALSE(std::filesystem::exists(pool_));
  expect_no_folder_of_a_trial();
}

TEST_F(ProgramTrialsTest, APlanAsJsonHasTheTimesOfEachTrial) {
  const Json planned = Json::parse(expect_done(plan(endless(), {"--json"})).out);
  ASSERT_GE(planned["rows"].size(), 2u);
  for (const Json& row : planned["rows"]) {
    EXPECT_GT(row["total_s"].get<double>(), 0);
    EXPECT_GT(row["transfer_s"].get<double>(), 0);
    EXPECT_LE(row["low_s"].get<double>(), row["total_s"].get<double>());
    EXPECT_GE(row["high_s"].get<double>(), row["total_s"].get<double>());
  }
  const auto transfers = std::count_if(planned["rows"].begin(), planned["rows"].end(),
                                       [](const Json& row) { return row["reduce"] == "transfer"; });
  EXPECT_EQ(transfers, 1) << "only the best split is tried with the other reduction";
  EXPECT_LT(planned["best"].get<std::size_t>(), planned["rows"].size());
}

TEST_F(ProgramTrialsTest, FixedCoresAndAFixedReductionLeaveOneTrial) {
  const Json planned =
      Json::parse(expect_done(plan(endless(), {"--json", "--reduce=transfer", "--producer-cores=0"})).out);
  ASSERT_EQ(planned["rows"].size(), 1u);
  EXPECT_EQ(planned["rows"][std::size_t{0}]["reduce"], "transfer");
}

TEST_F(ProgramTrialsTest, ARunWithTheChoiceHasTheSameIterates) {
  const Words script = {"say", "up", "attach", "publish", "30", "detach"};
  expect_done(scripted(script));
  const std::vector<double> expected = exported(30);
  const Finished ran = expect_done(scripted(script, {"--overwrite", "--cores=auto"}));
  EXPECT_EQ(ran.out.find("up\n"), ran.out.rfind("up\n")) << "the output of a trial is discarded:\n" << ran.out;
  expect_has(ran.out, {"up\n"});
  expect_has(ran.err, {"ringside: --cores auto: ", " a step"});
  EXPECT_EQ(exported(30), expected);
  EXPECT_LE(recorded_steps().size(), 60u) << "the journal beside the pool has no step of a trial";
  expect_intact();
  expect_no_folder_of_a_trial();
}

TEST_F(ProgramTrialsTest, ATrialBeginsAnewAlthoughTheRunResumes) {
  expect_done(scripted({"attach", "publish", "10", "detach"}));
  expect_done(scripted({"attach", "publish", "10", "detach"}, {"--resume", "--cores=auto"}));
  EXPECT_EQ(summary()["iterations"], 20);
  EXPECT_EQ(summary()["resumed_from"], 10);
}

TEST_F(ProgramTrialsTest, APoolOfAnotherRunDoesNotKeepAPlanFromTrying) {
  expect_done(scripted({"attach", "publish", "3", "detach"}));
  const std::string before = content_of(pool_);
  expect_done(plan(endless()));
  EXPECT_EQ(content_of(pool_), before);
}

TEST_F(ProgramTrialsTest, AProgramThatNamesItsOwnPoolCanBeTried) {
  const std::string text = "RINGSIDE_POOL=" + folder_.file("own.pool") + " exec $P attach publish 1000000000";
  expect_done(plan({"sh", "-c", "P=" + testing::kScripted + "; " + text}));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("own.pool")));
}

TEST_F(ProgramTrialsTest, AProcessThatTheProgramHasMovedElsewhereEndsWithTheTrial) {
  const std::string pid = folder_.file("pid");
  const std::string elsewhere =
      "setsid sh -c 'echo $$ > " + pid + "; exec sleep 1000' & until [ -s " + pid + " ]; do :; done; ";
  expect_done(plan({"sh", "-c", elsewhere + "exec " + testing::kScripted + " attach publish 1000000000"}));
  EXPECT_EQ(kill(std::stoi(content_of(pid)), 0), -1) << "it lives on";
}

TEST_F(ProgramTrialsTest, CtrlCDuringATrialEndsEverythingAndLeavesNothing) {
  const std::string in_trial = fifo("in_trial");
  const Words script = {"ignore", "attach", "publish", "2", "write", in_trial, "pause"};
  for (const Words& words : {plan(joined({testing::kScripted}, script)), scripted(script, {"--cores=auto"})}) {
    Process ringside("ringside", words);
    const int fd = open(in_trial.c_str(), O_RDWR);  // O_RDWR does not block, even if no trial begins
    pollfd there{.fd = fd, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&there, 1, 60'000), 1) << "the program of the first trial is not there";
    const Finished ran = expect_exit(130, ringside.stop(SIGINT));
    close(fd);
    EXPECT_EQ(ran.out, "");
    EXPECT_FALSE(std::filesystem::exists(pool_));
    expect_no_folder_of_a_trial();
  }
}

TEST_F(ProgramTrialsTest, AProgramThatCannotBeTriedIsReportedAndRunWithTheUsualCores) {
  const Finished planned = expect_exit(2, run("ringside", plan({"true"})));
  expect_has(planned.err, {"true ended with status 0 and never attached"});
  EXPECT_EQ(planned.out, "");
  const Words few = {"attach", "publish", "2", "detach"};
  const Finished ran = expect_done(scripted(few, {"--cores=auto"}));
  expect_has(ran.err, {"--cores auto: the topology chose the cores instead: ", "after 2 steps; expected at least 4"});
  EXPECT_EQ(summary()["steps_committed"], 2);
  expect_no_folder_of_a_trial();
}

TEST_F(ProgramTrialsTest, ATrialWithoutStepsEndsWithItsTime) {
  const Finished ran =
      expect_exit(2, run("ringside", plan({testing::kScripted, "attach", "pause"}, {"--trial-seconds=0.4"})));
  expect_has(ran.err, {"published 0 steps within", "--trial-seconds"});
  expect_no_folder_of_a_trial();
}

TEST_F(ProgramTrialsTest, RanksAndOptionsOfPredictionsAreRefused) {
  const auto expect_refused = [](const Words& words, const Words& fragments) {
    const Finished ran = expect_exit(2, run("ringside", words));
    expect_has(ran.err, fragments);
    EXPECT_EQ(ran.out, "");
  };
  expect_refused(with({"true"}, {"--cores=auto", "--ranks=2"}), {"--cores auto: found with --ranks"});
  expect_refused(with({"/usr/bin/mpirun", "true"}, {"--cores=auto"}), {"--cores auto: found with /usr/bin/mpirun"});
  expect_refused(plan({"true"}, {"--node=node.json"}), {"--node: found before `-- true`"});
  expect_refused(plan({"true"}, {"--output=plan.html"}), {"--output: found before `-- true`"});
  expect_refused(plan({"true"}, {"--matrix=grid:10"}), {"--matrix: found before `-- true`"});
  expect_refused(with({"true"}, {"--trial-seconds=9"}), {"--trial-seconds: found without trials"});
  expect_refused({"plan", "--trial-seconds=9", "--matrix=grid:10"}, {"--trial-seconds: found without `-- PROGRAM`"});
}

}  // namespace
}  // namespace ringside
