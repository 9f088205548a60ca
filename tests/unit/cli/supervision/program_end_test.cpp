// SPDX-License-Identifier: BSD-3-Clause
// The exit code and the line for each way in which a run of the user's PROGRAM can end.
#include "cli/supervision/program_end.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

/// A run with 17 committed steps. The process that attached (4711) is PROGRAM itself.
ProgramRunEnd attached(const std::string& how, const ProcessEnd& end) {
  ProgramRunEnd run{.program = "./solver", .socket = "/s", .end = end};
  run.attachment = {.attached = true, .pid = 4711, .how = how, .iteration = 17, .committed = 17};
  run.publisher_end = end;
  return run;
}

ProgramRunEnd unattached(const ProcessEnd& end) {
  return {.program = "./solver", .socket = "/s", .end = end};
}

void expect(const ProgramRunEnd& run, ExitCode code, const std::string& line) {
  const ProgramVerdict verdict = judge(run);
  EXPECT_EQ(verdict.code, code) << verdict.line;
  EXPECT_EQ(verdict.line, line);
}

const std::string kResumable = "; 17 steps are committed; ringside run --resume continues";

TEST(ProgramEndTest, ARunThatDetachedAndEndedWithZeroIsDone) {
  ProgramRunEnd run = attached("detached", {.status = 0});
  run.attachment.outcome = "finished";
  expect(run, ExitCode::kDone, "");
}

TEST(ProgramEndTest, AProgramThatNeverAttachedIsABadInputIfItEndedWell) {
  expect(unattached({.status = 0}), ExitCode::kUsage,
         "./solver ended with status 0 and never attached; expected it to publish through libringside "
         "(RINGSIDE_SOCKET=/s)");
  expect(unattached({.status = 1}), ExitCode::kPeerLost,
         "./solver ended with status 1 before it attached; expected it to attach with RINGSIDE_SOCKET=/s");
  expect(unattached({.signal = 11}), ExitCode::kPeerLost,
         "./solver died of signal 11 (Segmentation fault) before it attached; expected it to attach with "
         "RINGSIDE_SOCKET=/s");
}

TEST(ProgramEndTest, AProgramThatWasRefusedEndsTheRunWithTheCodeOfTheRefusal) {
  ProgramRunEnd run = unattached({.status = 1});
  run.attachment.refusal = Error(ExitCode::kSystem, "p.pool: no space");
  expect(run, ExitCode::kSystem, "./solver ended with status 1 after it was refused: p.pool: no space");
}

TEST(ProgramEndTest, ANumberOfStepsThatCannotBeReadIsCalledUnknown) {
  ProgramRunEnd run = attached("", {.signal = 9});
  run.attachment.is_counted = false;
  run.pool = "p.pool";
  expect(run, ExitCode::kPeerLost,
         "./solver: process 4711 died of signal 9 (Killed); the number of committed steps is unknown, because the "
         "analyzer was killed and the pool cannot be read; ringside info p.pool shows why");
}

TEST(ProgramEndTest, TheDeathOfTheProcessThatPublishesNamesItsSignalWhereItIsKnown) {
  expect(attached("producer_lost", {.signal = 11}), ExitCode::kPeerLost,
         "./solver: process 4711 died of signal 11 (Segmentation fault) after iteration 17" + kResumable);
  ProgramRunEnd below = attached("producer_lost", {.status = 139});  // the status of a launcher
  below.publisher_end = {};
  expect(below, ExitCode::kPeerLost, "./solver: process 4711 ended after iteration 17" + kResumable);
  below.publisher_lives = true;
  expect(below, ExitCode::kPeerLost, "./solver: process 4711 left after iteration 17 without detaching" + kResumable);
}

TEST(ProgramEndTest, AProgramThatDiedWhileTheAnalyzerStoppedWasLost) {
  // The analyzer was asked to stop because PROGRAM had ended. The analyzer noticed this request before it noticed the
  // end of PROGRAM.
  expect(attached("stopped", {.status = 1}), ExitCode::kPeerLost,
         "./solver: process 4711 ended with status 1 after iteration 17 without detaching" + kResumable);
}

TEST(ProgramEndTest, ResumingIsOnlyRecommendedIfThereIsSomethingToContinueFrom) {
  ProgramRunEnd run = attached("producer_lost", {.signal = 9});
  run.attachment.iteration = run.attachment.committed = 0;
  expect(run, ExitCode::kPeerLost,
         "./solver: process 4711 died of signal 9 (Killed) before its first iteration; 0 steps are committed");
}

TEST(ProgramEndTest, AFailureAfterTheDetachIsAFailureThoughEverythingIsCommitted) {
  expect(attached("detached", {.status = 3}), ExitCode::kPeerLost,
         "./solver ended with status 3 after iteration 17; every published step is committed");
}

TEST(ProgramEndTest, AProgramThatHasNotReachedItsEndIsNotDoneThoughItEndedWithZero) {
  ProgramRunEnd run = attached("detached", {.status = 0});
  run.attachment.outcome = "interrupted";
  expect(
      run, ExitCode::kPeerLost,
      "./solver stopped after iteration 17, before it was finished, and ringside did not ask it to stop" + kResumable);
  run.interrupted = true;
  expect(run, ExitCode::kInterrupted, "");
  run.interrupted = false;
  run.announced = 10;
  expect(run, ExitCode::kInterrupted,
         "./solver stopped after iteration 17, after signal 10 (User defined signal 1)" + kResumable);
  run.attachment.outcome = "failed";
  expect(run, ExitCode::kPeerLost, "./solver reported that it failed after iteration 17" + kResumable);
  run.attachment.outcome = "diverged";
  expect(run, ExitCode::kUsage, "./solver reported that it diverged after iteration 17" + kResumable);
}

TEST(ProgramEndTest, HowAnAttendedProgramEndsIsItsOwnBusiness) {
  ProgramRunEnd run = attached("detached", {});
  run.is_attended = true;
  run.attachment.outcome = "finished";
  expect(run, ExitCode::kDone, "");
  run.attachment.outcome = "interrupted";
  expect(run, ExitCode::kInterrupted, "");
  run.attachment.outcome = "failed";
  expect(run, ExitCode::kPeerLost,
         "./solver reported that it failed after iteration 17; 17 steps are committed; if it is started again, it "
         "continues");
  run.attachment.how = "producer_lost";
  expect(
      run, ExitCode::kPeerLost,
      "./solver: process 4711 ended after iteration 17; 17 steps are committed; if it is started again, it continues");
  run = unattached({});
  run.is_attended = true;
  run.attachment.refusal = Error(ExitCode::kUsage, "p.pool: holds another run");
  expect(run, ExitCode::kDone, "");
}

TEST(ProgramEndTest, AnInterruptionIsNoFailureOfAProgramThatDetached) {
  ProgramRunEnd run = attached("detached", {.status = 130});
  run.interrupted = true;
  expect(run, ExitCode::kInterrupted, "");
  run = attached("producer_lost", {.signal = 2});
  run.interrupted = true;
  expect(run, ExitCode::kInterrupted,
         "./solver: process 4711 died of signal 2 (Interrupt) after iteration 17" + kResumable);
}

TEST(ProgramEndTest, ALostPoolTakesPrecedenceOverEverything) {
  for (const ExitCode code : {ExitCode::kSystem, ExitCode::kDamaged}) {
    ProgramRunEnd run = attached("sync_failed", {.status = 3});
    run.attachment.code = code;
    run.attachment.text = "p.pool: writing to the disk failed";
    run.interrupted = true;
    expect(run, code, "p.pool: writing to the disk failed");
  }
  ProgramRunEnd gone = attached("detached", {.status = 0});  // the loss of the pool was found at the end of the run
  gone.attachment.code = ExitCode::kSystem;
  gone.attachment.text = "p.pool: the pool was deleted";
  expect(gone, ExitCode::kSystem, "p.pool: the pool was deleted");
}

TEST(ProgramEndTest, AStopThatWasAskedForIsReportedInTheAnalyzersWords) {
  ProgramRunEnd run = attached("stop_requested", {.status = 130});
  run.attachment.code = ExitCode::kInterrupted;
  run.attachment.text = "the run was asked to stop";
  expect(run, ExitCode::kInterrupted, "the run was asked to stop");
}

TEST(ProgramEndTest, AnAnalyzerThatDiedForGoodIsTheCause) {
  ProgramRunEnd run = attached("", {.status = 4});
  run.analyzer_death = "was killed by signal 9 (Killed)";
  expect(run, ExitCode::kPeerLost, "the analyzer was killed by signal 9 (Killed)");
  run = unattached({.status = 4});
  run.analyzer_death = "was killed by signal 9 (Killed)";
  expect(run, ExitCode::kPeerLost, "the analyzer was killed by signal 9 (Killed)");
}

TEST(ProgramEndTest, TheReminderComesOnceAfterAMinute) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  AttachmentReminder reminder(5 * kSecond);
  EXPECT_EQ(reminder.due(5 * kSecond, "./solver", 4711, "/s"), std::nullopt);
  EXPECT_EQ(reminder.due(65 * kSecond - 1, "./solver", 4711, "/s"), std::nullopt);
  EXPECT_EQ(reminder.due(65 * kSecond, "./solver", 4711, "/s"),
            "./solver (process 4711) has not attached for 60 s; expected ringside_writer_attach with "
            "RINGSIDE_SOCKET=/s; still waiting");
  EXPECT_EQ(reminder.due(66 * kSecond, "./solver", 4711, "/s"), std::nullopt);
}

}  // namespace
}  // namespace ringside
