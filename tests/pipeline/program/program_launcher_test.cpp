// SPDX-License-Identifier: BSD-3-Clause
// The process that attaches need not be the one that `ringside run` started: scripts, wrappers and MPI's launcher.
#include "tests/pipeline/program/program_fixture.hpp"
#include "tests/unit/allowed_cpus.hpp"

namespace ringside {
namespace {

using namespace testing::names;
using testing::ProgramTest;
using testing::UpRun;

const Words kFiveSteps = {testing::kScripted, "attach", "publish", "5", "detach"};

TEST_F(ProgramTest, ALauncherMayStandInThePlaceOfTheProgram) {
  for (const Words& launcher :
       {Words{"env", "A=b"}, {"setsid", "--wait"}, {"nice"}, {"sh", "-c", "\"$@\"; exit $?", "sh"}}) {
    const Finished ran = run("ringside", with(joined(launcher, kFiveSteps), {"--overwrite"}));
    EXPECT_EQ(ran.exit_code, 0) << launcher.front() << ": " << ran.err;
    EXPECT_EQ(lines(ran), "") << launcher.front();
    EXPECT_EQ(summary()["steps_committed"], 5);
  }
}

TEST_F(ProgramTest, MpisLauncherMayStandInThePlaceOfTheProgram) {
  if (std::system("mpirun --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "mpirun is not installed";
  const Words launcher = {"mpirun", "-n", "1", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"};
  expect_done(with(joined(launcher, kFiveSteps)));
  EXPECT_EQ(summary()["steps_committed"], 5);
}

TEST_F(ProgramTest, AWrapperThatGoesIntoTheBackgroundIsWaitedFor) {
  expect_done(with(joined({"setsid", "--fork"}, kFiveSteps)));
  EXPECT_EQ(summary()["steps_committed"], 5);
}

TEST_F(ProgramTest, ADescendantThatIsAttachedOutlivesItsLauncher) {
  const std::string up = fifo("up");
  const std::string go = fifo("go");
  Process ringside("ringside", shell("$P attach publish 1 write " + up + " read " + go +
                                     " publish 1 detach & read line <" + up + "; exit 0"));
  ASSERT_TRUE(ringside.wait_for_err("waiting for this process\n"));
  std::ofstream(go) << '\n';
  expect_end(ringside, 0, "ringside: sh ended with status 0 while process N is attached; waiting for this process\n");
  EXPECT_EQ(summary()["steps_committed"], 2);
}

TEST_F(ProgramTest, CtrlCReachesADescendantWhoseLauncherHasEnded) {
  for (const std::string group : {"", "setsid --wait "}) {
    const std::string up = fifo("up" + group.substr(0, 2));
    Process ringside("ringside", shell(group + "$P handle attach publish 1 write " + up +
                                           " await publish 1 detach & read line <" + up + "; exit 3",
                                       {"--overwrite"}));
    ASSERT_TRUE(ringside.wait_for_err("waiting for this process\n"));
    ringside.signal(SIGINT);
    expect_end(ringside, 130,
               "ringside: sh ended with status 3 while process N is attached; waiting for this process\n");
    EXPECT_EQ(summary()["steps_committed"], 2);
  }
}

TEST_F(ProgramTest, CtrlCReachesAProgramInASessionOfItsOwn) {
  UpRun ringside(with({"setsid", "--wait", testing::kScripted, "handle", "attach", "publish", "1", "say", "up", "await",
                       "publish", "1", "detach"}));
  expect_exit(130, ringside.stop(SIGINT));
  EXPECT_EQ(summary()["steps_committed"], 2);
}

TEST_F(ProgramTest, TheDeathOfALaunchersChildIsReportedWithoutItsSignal) {
  expect_run(shell("$P attach publish 17 raise 9; exit 0"), 4,
             "Killed\nringside: sh: process N ended after iteration 17; 17 steps are committed; ringside run --resume "
             "continues\n");
  EXPECT_EQ(summary()["steps_committed"], 17);
  expect_intact();
}

TEST_F(ProgramTest, ALauncherThatContinuesDoesNotHideTheDeathOfItsChild) {
  const std::string go = fifo("go");
  Process ringside("ringside", shell("$P attach publish 2 exit 1; read line <" + go + "; exit 0"));
  ASSERT_TRUE(ringside.wait_for_err("--resume continues\n"));
  std::ofstream(go) << '\n';
  expect_end(ringside, 4,
             "ringside: sh: process N ended after iteration 2; 2 steps are committed; ringside run --resume "
             "continues\n");
}

TEST_F(ProgramTest, TheDeathOfAnOrphanIsReportedWithItsSignal) {
  const Finished ran = expect_exit(
      4, run("ringside", with({"setsid", "--fork", testing::kScripted, "attach", "publish", "2", "raise", "11"})));
  EXPECT_NE(lines(ran).find("ringside: setsid: process N died of signal 11 (Segmentation fault) after iteration 2; 2 "
                            "steps are committed; ringside run --resume continues\n"),
            std::string::npos)
      << ran.err;
}

TEST_F(ProgramTest, ALauncherThatChangesTheBindingCausesANote) {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one core only";
  const std::string first = std::to_string(cpus[0]);
  const std::string second = std::to_string(cpus[1]);
  expect_run(
      with(joined({"taskset", "-c", second}, kFiveSteps), {"--producer-cores=" + first, "--analyzer-cores=" + second}),
      0,
      "ringside: process N runs on cores " + second + ", but RINGSIDE_CORES has " + first +
          "; expected the same cores (mpirun --bind-to none)\n");
}

}  // namespace
}  // namespace ringside
