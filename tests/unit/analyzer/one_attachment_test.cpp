// SPDX-License-Identifier: BSD-3-Clause
// Which processes may attach to the analyzer of `ringside run -- PROGRAM`, and with which reasons others are refused.
#include "analyzer/one_attachment.hpp"

#include <gtest/gtest.h>

#include <string>

#include "common/handoff/handoff_writer.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

constexpr pid_t kNone = 0;

/// The line that `process` would receive; empty if it may attach.
std::string line(const OneAttachment& attachment, pid_t process) {
  const std::optional<Error> refusal = attachment.refusal(process);
  if (refusal) {
    EXPECT_EQ(refusal->code(), ExitCode::kUsage);
  }
  return refusal ? refusal->what() : "";
}

TEST(OneAttachmentTest, AnyProcessMayBeTheFirst) {
  EXPECT_EQ(line(OneAttachment(kNone), 4711), "");
}

TEST(OneAttachmentTest, WhileOnePublishesNobodyElseMayAttach) {
  OneAttachment attachment(kNone);
  attachment.began(4711);
  EXPECT_EQ(line(attachment, 4712),
            "process 4712 cannot attach: process 4711 publishes this run; expected one publishing process, for example "
            "rank 0");
  EXPECT_NE(line(attachment, 4711), "");
}

/// The line that `process` would receive after process 4711 ended its attachment in this way.
std::string line_after(ServeEnd end, pid_t process) {
  OneAttachment attachment(kNone);
  attachment.began(4711);
  attachment.ended(end, 17);
  return line(attachment, process);
}

TEST(OneAttachmentTest, OnlyAProcessThatASignalHadStoppedMayComeBack) {
  EXPECT_EQ(line_after(ServeEnd::kDetached, 4711),
            "this run has ended at iteration 17; ringside run serves only one run; to serve several runs, start "
            "ringside-analyzer as a service");
  EXPECT_EQ(line_after(ServeEnd::kProducerLost, 4712),
            "this run has ended at iteration 17, because process 4711 left it without detaching; ringside run --resume "
            "continues it");
  EXPECT_EQ(line_after(ServeEnd::kProducerStopped, 4711), "");
  EXPECT_NE(line_after(ServeEnd::kProducerStopped, 4712), "");
}

TEST(OneAttachmentTest, ASuccessorWaitsForTheProcessOfItsPredecessor) {
  const OneAttachment attachment(4711);
  EXPECT_EQ(line(attachment, 4711), "");
  EXPECT_NE(line(attachment, 4712), "");
}

TEST(OneAttachmentTest, AThreadAnswersEveryRequestWithItsRefusal) {
  const testing::TemporaryFolder folder;
  const std::string socket = folder.file("s");
  Listener listener(socket);
  Acceptor acceptor(listener);
  OneAttachment attachment(kNone);
  attachment.began(1);
  const RefusingThread refusing(acceptor, attachment);
  const RunDescription run;
  for (int i = 0; i < 3; ++i) {
    expect_refused([&] { const HandoffWriter writer({.socket = socket}, run, Schema::x_only(10)); },
                   "process 1 publishes this run");
  }
}

}  // namespace
}  // namespace ringside
