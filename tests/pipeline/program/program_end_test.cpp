// SPDX-License-Identifier: BSD-3-Clause
// Programs that never attach, attach twice, fork, or die: for each, one clear line and one exit code.
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/pipeline/program/program_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;
using testing::ProgramTest;
using testing::UpRun;

/// `text`, with PATH in place of the socket's path.
std::string without_path(const std::string& text) {
  return std::regex_replace(text, std::regex("RINGSIDE_SOCKET=/[^ )\n]*"), "RINGSIDE_SOCKET=PATH");
}

/// Waits until a process has died. Its parent may not have waited for it yet.
void wait_until_dead(pid_t pid) {
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  ASSERT_GE(process, 0);
  pollfd died{process, POLLIN, 0};
  EXPECT_EQ(poll(&died, 1, -1), 1);
  close(process);
}

TEST_F(ProgramTest, AProgramThatCannotBeStartedIsRefusedWithTheReason) {
  expect_run(with({"no-such-program"}), 2,
             "ringside: no-such-program: cannot be started: No such file or directory; expected a program in PATH or a "
             "path\n");
  const std::string text = write_file("text", "not a program\n");
  for (const std::string& path : {text, std::string("/")}) {
    expect_run(with({path}), 2,
               "ringside: " + path + ": cannot be started: Permission denied; expected a program in PATH or a path\n");
  }
  EXPECT_FALSE(std::filesystem::exists(pool_));
}

TEST_F(ProgramTest, AProgramThatNeverAttachesIsToldWhatWasExpected) {
  const Finished done = expect_exit(2, run("ringside", with({"true"})));
  EXPECT_EQ(without_path(lines(done)),
            "ringside: true ended with status 0 and never attached; expected it to publish through libringside "
            "(RINGSIDE_SOCKET=PATH)\n");
  EXPECT_EQ(done.out, "");
  const Finished failed = expect_exit(4, run("ringside", with({"false"})));
  EXPECT_EQ(without_path(lines(failed)),
            "ringside: false ended with status 1 before it attached; expected it to attach with "
            "RINGSIDE_SOCKET=PATH\n");
  const Finished died = expect_exit(4, run("ringside", scripted({"raise", "11"})));
  EXPECT_EQ(without_path(lines(died)),
            prefix_ +
                " died of signal 11 (Segmentation fault) before it attached; expected it to attach with "
                "RINGSIDE_SOCKET=PATH\n");
  EXPECT_FALSE(std::filesystem::exists(pool_));
  EXPECT_FALSE(std::filesystem::exists(summary_));
}

TEST_F(ProgramTest, AProgramThatIsRefusedEndsTheRunWithTheReason) {
  expect_run(scripted({"attach", "publish", "3", "detach"}), 0, "");
  const Finished ran = expect_exit(2, run("ringside", scripted({"problem", "other", "attach"}, {"--resume"})));
  const std::string reason = lines(ran).substr(0, lines(ran).find('\n'));
  EXPECT_EQ(reason.rfind("scripted_program: ", 0), 0u) << ran.err;
  EXPECT_EQ(lines(ran), reason + "\n" + prefix_ + " ended with status 2 after it was refused: " +
                            reason.substr(std::string("scripted_program: ").size()) + "\n");
}

TEST_F(ProgramTest, ASecondProcessIsRefusedAtOnceAndTheRunContinues) {
  const std::string second = testing::kScripted + " attach";
  const Finished ran = expect_done(scripted({"attach", "publish", "2", "run", second, "publish", "2", "detach"}));
  EXPECT_EQ(lines(ran),
            "scripted_program: process N cannot attach: process N publishes this run; expected one publishing process, "
            "for example rank 0\n");
  expect_has(ran.out, {"status 2\n"});
  EXPECT_EQ(summary()["steps_committed"], 4);
  expect_intact();
}

TEST_F(ProgramTest, AnotherAttachmentAfterTheDetachIsRefused) {
  const Finished ran = expect_exit(2, run("ringside", scripted({"attach", "publish", "3", "detach", "attach"})));
  EXPECT_EQ(lines(ran),
            "scripted_program: this run has ended at iteration 3; ringside run serves only one run; to serve "
            "several runs, start ringside-analyzer as a service\n" +
                prefix_ + " ended with status 2 after iteration 3; every published step is committed\n");
  EXPECT_EQ(summary()["steps_committed"], 3);
}

TEST_F(ProgramTest, AChildThatUsesTheAttachmentIsRefusedAndTheRunContinues) {
  const Finished ran = expect_done(scripted({"attach", "publish", "2", "fork", "publish", "2", "detach"}));
  EXPECT_TRUE(std::regex_search(ran.out, std::regex("this handle belongs to process [0-9]+; its child [0-9]+ must open "
                                                    "one of its own\nthe child ended with status 2\n")))
      << ran.out;
  EXPECT_EQ(summary()["steps_committed"], 4);
  expect_intact();
}

TEST_F(ProgramTest, TheDeathOfAProgramIsSeenAlthoughItsChildHasTheSocketToo) {
  Process ringside("ringside", scripted({"attach", "publish", "2", "leave", "raise", "9"}));
  const Finished ran = expect_exit(4, ringside.finish());
  EXPECT_EQ(lines(ran), prefix_ +
                            ": process N died of signal 9 (Killed) after iteration 2; 2 steps are committed; "
                            "ringside run --resume continues\n");
  const std::size_t left = ran.out.find("left ");
  ASSERT_NE(left, std::string::npos) << ran.out;
  const pid_t child = std::stoi(ran.out.substr(left + 5));
  EXPECT_EQ(kill(child, SIGKILL), 0) << "what a program leaves behind is the user's";
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

TEST_F(ProgramTest, AProgramThatDiesWhileAttachedLosesNoPublishedStep) {
  expect_run(scripted({"attach", "publish", "17", "raise", "11"}), 4,
             prefix_ +
                 ": process N died of signal 11 (Segmentation fault) after iteration 17; 17 steps are committed; "
                 "ringside run --resume continues\n");
  EXPECT_EQ(summary()["steps_committed"], 17);
  expect_intact();
}

TEST_F(ProgramTest, ARunWhoseProgramAndAnalyzerDieTogetherEnds) {
  UpRun ringside(scripted({"attach", "publish", "10", "say", "up", "pause"}));
  const pid_t program = wait_for_child(ringside.pid(), "scripted_program");
  const pid_t analyzer = wait_for_child(ringside.pid(), "ringside-analyzer");
  ringside.signal(SIGSTOP);  // so that `ringside run` finds both deaths at once
  kill(analyzer, SIGKILL);
  kill(program, SIGKILL);
  for (const pid_t died : {analyzer, program}) wait_until_dead(died);
  ringside.signal(SIGCONT);
  expect_end(ringside, 4, "ringside: the analyzer was killed by signal 9 (Killed)\n");
}

TEST_F(ProgramTest, AProgramThatDiesBeforeItFindsTheAnalyzerThatTookOverEndsTheRun) {
  Process ringside("ringside", scripted({"attach", "publish", "10", "pause"}));
  ASSERT_TRUE(ringside.wait_for_err("iteration 10"));  // the first analyzer has reported its steps
  const pid_t first = wait_for_child(ringside.pid(), "ringside-analyzer");
  kill(first, SIGKILL);
  wait_for_child(ringside.pid(), "ringside-analyzer", first);
  kill(wait_for_child(ringside.pid(), "scripted_program"), SIGKILL);
  expect_end(ringside, 4,
             "ringside: the analyzer was killed by signal 9 (Killed); another one takes over\n" + prefix_ +
                 ": process N died of signal 9 (Killed) after iteration 10; 10 steps are committed; "
                 "ringside run --resume continues\n");
}

TEST_F(ProgramTest, StepsThatAKilledAnalyzerHasNotReportedAreCountedInThePool) {
  expect_run(scripted({"attach", "publish", "3", "detach"}), 0, "");  // now the pool has steps of another attachment
  Process ringside("ringside", scripted({"attach", "publish", "10", "pause"}, {"--resume"}));
  ASSERT_TRUE(wait_for_commits(13));
  const pid_t first = wait_for_child(ringside.pid(), "ringside-analyzer");
  kill(first, SIGKILL);  // in most cases, before it reports a step
  wait_for_child(ringside.pid(), "ringside-analyzer", first);
  kill(wait_for_child(ringside.pid(), "scripted_program"), SIGKILL);
  expect_end(ringside, 4,
             "ringside: the analyzer was killed by signal 9 (Killed); another one takes over\n" + prefix_ +
                 ": process N died of signal 9 (Killed) after iteration 13; 10 steps are committed; "
                 "ringside run --resume continues\n");
}

TEST_F(ProgramTest, AProgramThatEndsWithoutDetachingHasFailed) {
  for (const std::string status : {"0", "3"}) {
    expect_run(scripted({"attach", "publish", "2", "exit", status}, {"--overwrite"}), 4,
               prefix_ + ": process N ended with status " + status +
                   " after iteration 2 without detaching; 2 steps are committed; ringside run --resume continues\n");
  }
  expect_run(scripted({"attach", "raise", "6"}, {"--overwrite"}), 4,
             prefix_ + ": process N died of signal 6 (Aborted) before its first iteration; 0 steps are committed\n");
}

TEST_F(ProgramTest, AProgramThatFailsAfterItHasDetachedHasFailedButKeptEverything) {
  const Finished ran = expect_exit(4, run("ringside", scripted({"attach", "publish", "4", "detach", "exit", "3"})));
  EXPECT_EQ(lines(ran), prefix_ + " ended with status 3 after iteration 4; every published step is committed\n");
  expect_has(ran.out, {"ringside run: failed; the account so far\n"});
  expect_run(
      scripted({"attach", "publish", "4", "detach", "raise", "11"}, {"--overwrite"}), 4,
      prefix_ + " died of signal 11 (Segmentation fault) after iteration 4; every published step is committed\n");
}

}  // namespace
}  // namespace ringside
