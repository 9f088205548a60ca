// SPDX-License-Identifier: BSD-3-Clause
// A process that forks while it is attached: the attachment stays the parent's, whatever the child does with its copy.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "tests/unit/common/handoff/handoff_fixture.hpp"

namespace ringside {
namespace {

using namespace testing;

using ForkTest = HandoffTest;
INSTANTIATE_TEST_SUITE_P(Coordination, ForkTest, kBothCoordinations, name_of_coordination);

/// Runs in a child: everything that a program does with a writer. Returns what the child saw otherwise than expected.
std::string use_in_child(HandoffWriter& writer, pid_t parent) {
  const std::string line =
      fmt::format("this handle belongs to process {}; its child {} must open one of its own", parent, getpid());
  writer.publish({.iteration = 2});  // the parent had claimed a buffer
  if (writer.published() != 1) return "it published";
  for (const Claim& claim : {writer.claim(), writer.try_claim(), writer.claim_last()}) {
    if (claim || claim.payload != nullptr) return "a claim gave a buffer";
    const Error error = writer.failure(claim.status);
    if (error.code() != ExitCode::kUsage || error.what() != line) return error.what();
  }
  try {
    writer.detach(Outcome::kFinished);
  } catch (const Error& error) {
    return error.code() == ExitCode::kUsage && error.what() == line ? "" : error.what();
  }
  return "it detached";
}

TEST_P(ForkTest, AChildCannotUseTheAttachmentAndItsEndLeavesItAlone) {
  Attached ends = attach(options());
  publish_one(*ends.writer);
  ASSERT_TRUE(ends.writer->claim());
  const pid_t parent = getpid();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::string wrong = use_in_child(*ends.writer, parent);
    ends.writer.reset();  // as at the end of a program
    if (!wrong.empty()) fmt::print(stderr, "in the child: {}\n", wrong);
    _exit(wrong.empty() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);

  ends.writer->publish({.iteration = 2});  // into the buffer that was claimed before the fork
  std::thread detaching([&] { EXPECT_NO_THROW(ends.writer->detach(Outcome::kFinished)); });
  PublishedStep step;
  for (std::uint64_t k = 1; k <= 2; ++k) {
    ASSERT_EQ(ends.reader->next(step, kMaySpin, nullptr), NextStatus::kStep);
    EXPECT_EQ(step.step.descriptor.iteration, k);
    ends.reader->release();
  }
  answer_goodbye(*ends.reader);
  detaching.join();
}

}  // namespace
}  // namespace ringside
