// SPDX-License-Identifier: BSD-3-Clause
// The hand-off between two threads and between two processes: the guarantees of the protocol, also for a process that
// forks.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>
#include <type_traits>

#include "tests/unit/child_process.hpp"
#include "tests/unit/common/handoff/handoff_fixture.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

using namespace testing;

INSTANTIATE_TEST_SUITE_P(Either, HandoffTest, kBothCoordinations, name_of_coordination);

TEST_P(HandoffTest, EveryStepArrivesInOrderAndBitEqual) {
  constexpr std::uint64_t kSteps = 500;
  Listener listener(socket_path_);
  std::thread producer([&] {
    HandoffWriter writer(options_, description(), x_only(), residuals());
    for (std::uint64_t s = 0; s < kSteps; ++s) {
      const Claim claim = writer.claim();
      ASSERT_EQ(claim.status, ClaimStatus::kOk);
      fill(claim.x(), s);
      const ScalarValue scalars[] = {0.5, 0.25};
      writer.publish({.iteration = s + 1, .generate_ns = 7}, scalars);
    }
    writer.detach(Outcome::kFinished);
  });

  HandoffReader reader = accept_reader(listener);
  reader.accept();
  PublishedStep step;
  std::uint64_t taken = 0;
  while (reader.next(step, kMaySpin, nullptr) == NextStatus::kStep) {
    ASSERT_EQ(step.step.descriptor.step, taken);
    ASSERT_EQ(step.step.descriptor.iteration, taken + 1);
    ASSERT_EQ(step.step.descriptor.residual_linf, 0.25);
    ASSERT_TRUE(holds(doubles(step.payload), taken)) << "step " << taken;
    reader.release();
    ++taken;
  }
  EXPECT_EQ(taken, kSteps);
  EXPECT_EQ(reader.outcome(), Outcome::kFinished);
  reader.farewell(ExitCode::kDone, "");
  producer.join();
}

TEST_P(HandoffTest, ABufferIsNotLentAgainBeforeItsRelease) {
  Attached ends = attach(options_);

  for (std::uint64_t s = 0; s < 2; ++s) {
    ASSERT_EQ(ends.writer->try_claim().status, ClaimStatus::kOk);
    ends.writer->publish({.iteration = s + 1});
  }
  EXPECT_EQ(ends.writer->try_claim().status, ClaimStatus::kFull);
  EXPECT_EQ(ends.writer->skipped(), 0u) << "the solver may try again";
  ends.writer->count_skip();

  ASSERT_EQ(next(*ends.reader), NextStatus::kStep);
  EXPECT_EQ(ends.writer->try_claim().status, ClaimStatus::kFull) << "seen, but not yet released";
  ends.writer->count_skip();
  ends.reader->release();
  EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kOk);
  ends.writer->publish({.iteration = 5});
  ASSERT_EQ(next(*ends.reader), NextStatus::kStep);
  ends.reader->release();
  PublishedStep step;
  ASSERT_EQ(ends.reader->next(step, kMaySpin, nullptr), NextStatus::kStep);
  EXPECT_EQ(step.step.descriptor.skipped_before, 2u) << "the next published step reports the skipped ones";
}

TEST_P(HandoffTest, TheAnalyzersMappingOfThePayloadIsReadOnly) {
  Attached ends = attach(options_);
  publish_one(*ends.writer);
  PublishedStep step;
  ASSERT_EQ(ends.reader->next(step, kMaySpin, nullptr), NextStatus::kStep);
  auto* page = const_cast<double*>(doubles(step.payload));  // 2 MiB-aligned and therefore page-aligned
  EXPECT_EQ(mprotect(page, 4096, PROT_READ | PROT_WRITE), -1) << "the seal forbids writable mappings";
}

TEST_P(HandoffTest, ARefusalReachesTheProducerWithItsLineAndCode) {
  Listener listener(socket_path_);
  std::thread analyzer([&] {
    HandoffReader reader = accept_reader(listener);
    reader.refuse(usage_error("the pool holds another run; use --overwrite"));
  });
  EXPECT_EQ(failure_line([&] { HandoffWriter(options_, description(), x_only(), residuals()); }),
            "the pool holds another run; use --overwrite");
  analyzer.join();
}

TEST_P(HandoffTest, WithoutAnAnalyzerAttachingEndsWithPeerLost) {
  options_.peer_timeout_s = 0.05;
  expect_refused([&] { HandoffWriter(options_, description(), x_only(), residuals()); }, socket_path_,
                 ExitCode::kPeerLost);
}

TEST_P(HandoffTest, AStepPublishedBeforeTheProducerDiedIsStillTaken) {
  Listener listener(socket_path_);
  const pid_t child = fork();
  if (child == 0) {
    HandoffWriter writer(options_, description(), x_only(), residuals());
    publish_one(writer);
    const Claim half_written = writer.claim();
    half_written.x()[0] = -1;  // never published
    kill(getpid(), SIGKILL);
  }
  HandoffReader reader = accept_reader(listener);
  reader.accept();
  waitpid(child, nullptr, 0);  // the producer is dead before the reader checks
  take_one(reader, 0);
  EXPECT_EQ(next(reader), NextStatus::kProducerLost);
  EXPECT_EQ(reader.outcome(), Outcome::kFailed);
}

TEST_P(HandoffTest, AClaimEndsWhenTheAnalyzerDies) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    Listener listener(socket_path_);
    char byte = 1;
    if (write(ready[1], &byte, 1) != 1) _exit(1);
    HandoffReader reader = accept_reader(listener);
    reader.accept();
    next(reader);
    kill(getpid(), SIGKILL);  // the step is taken, but its buffer is never released
  }
  close(ready[1]);  // so that the test does not hang if the analyzer has failed
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1) << "the analyzer does not listen";
  options_.on_analyzer_loss = OnAnalyzerLoss::kStop;
  HandoffWriter writer(options_, description(), x_only(), residuals());
  for (int s = 0; s < 2; ++s) publish_one(writer);
  EXPECT_EQ(writer.claim().status, ClaimStatus::kAnalyzerLost);
  EXPECT_GT(writer.idle_ns(), 0);
  waitpid(child, nullptr, 0);
  close(ready[0]);
}

TEST_P(HandoffTest, AClaimWithoutABufferIsFalseAndNothingCanBePublishedIntoIt) {
  static_assert(!std::is_convertible_v<Claim, bool>, "a claim is no number");
  options_.peer_timeout_s = 0.05;
  Attached ends = attach(options_);
  ends.reader.reset();
  ends.listener.reset();
  for (int i = 0; i < 2; ++i) {  // even without an analyzer, two buffers are free
    const Claim claim = ends.writer->claim();
    EXPECT_TRUE(claim);
    EXPECT_NE(claim.x(), nullptr);
    ends.writer->publish({.iteration = static_cast<std::uint64_t>(i) + 1});
  }
  const Claim none = ends.writer->claim();
  EXPECT_FALSE(none);
  EXPECT_EQ(none.x(), nullptr);
  ends.writer->publish({.iteration = 3});
  EXPECT_EQ(ends.writer->published(), 2u);
}

TEST_P(HandoffTest, AClaimEndsWhenTheAnalyzerMakesNoProgress) {
  options_.peer_timeout_s = 0.1;
  Attached ends = attach_full(options_);
  EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kAnalyzerStalled);
  EXPECT_THROW(ends.writer->detach(Outcome::kFinished), Error) << "nor does the goodbye wait for ever";
}

TEST_P(HandoffTest, AnAnalyzerThatLeavesBeforeItHasCommittedAllStepsIsAFailure) {
  Attached ends = attach_full(options_);
  take_one(*ends.reader, 0);
  ends.reader->farewell(ExitCode::kDone, "");
  ends.reader.reset();
  expect_refused([&] { ends.writer->detach(Outcome::kFinished); }, "1 of 2", ExitCode::kPeerLost);
}

TEST_P(HandoffTest, AFailedAnalyzersReasonReachesTheProducer) {
  Attached ends = attach_full(options_);
  std::thread claim([&] { EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kAnalyzerFailed); });
  ends.reader->farewell(ExitCode::kSystem, "the disk is broken");
  claim.join();
  const Error failure = ends.writer->failure(ClaimStatus::kAnalyzerFailed);
  EXPECT_EQ(failure.code(), ExitCode::kSystem);
  EXPECT_STREQ(failure.what(), "the disk is broken");
}

TEST_P(HandoffTest, AFarewellArrivesEvenIfTheGoodbyeBeforeItWasNotRead) {
  Attached ends = attach(options_);
  std::thread detach([&] { EXPECT_NO_THROW(ends.writer->detach(Outcome::kFinished)); });
  answer_goodbye(*ends.reader);
  ends.reader.reset();  // closes the connection without reading the goodbye
  detach.join();
}

TEST_P(HandoffTest, AStopRequestEndsTheWaitOnceEveryPublishedStepIsTaken) {
  std::atomic<bool> stop{false};
  Attached ends = attach(options_);
  publish_one(*ends.writer);
  stop = true;
  PublishedStep step;
  ASSERT_EQ(ends.reader->next(step, kMaySpin, &stop), NextStatus::kStep);
  ends.reader->release();
  // A producer that continues to publish must not prevent the analyzer from stopping.
  publish_one(*ends.writer);
  EXPECT_EQ(ends.reader->next(step, kMaySpin, &stop), NextStatus::kStopped);
}

TEST_P(HandoffTest, AFileInTheSocketsPlaceIsLeftAlone) {
  const std::string file = folder_.write("letter", "Dear reader,");
  EXPECT_THROW(Listener listener(file), Error);
  EXPECT_EQ(std::filesystem::file_size(file), 12u);
}

TEST_P(HandoffTest, TheSocketOfADeadAnalyzerIsReplaced) {
  status_of_child([&] {
    Listener listener(socket_path_);
    return raise(SIGKILL);
  });
  EXPECT_NO_THROW(Listener listener(socket_path_));
}

TEST_P(HandoffTest, TooFewOrTooManyBuffersAreRefused) {
  for (const std::uint32_t buffers : {0u, 1u, 65u}) {
    options_.buffers = buffers;
    EXPECT_THROW(HandoffWriter(options_, description(), x_only()), Error) << buffers;
  }
}

/// Runs in a child process: everything that a program does with a writer. Returns a text about the first unexpected
/// result, or an empty one.
std::string use_in_child(HandoffWriter& writer, pid_t parent) {
  const std::string line =
      fmt::format("this handle belongs to process {}; its child {} must open one of its own", parent, getpid());
  writer.publish({.iteration = 2});  // the parent had claimed a buffer
  if (writer.published() != 1) return "it published";
  for (const Claim& claim : {writer.claim(), writer.try_claim(), writer.claim_at_once(), writer.claim_last()}) {
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

TEST_P(HandoffTest, AChildCannotUseTheAttachmentAndItsEndLeavesItAlone) {
  Attached ends = attach(options_);
  publish_one(*ends.writer);
  ASSERT_TRUE(ends.writer->claim());
  const int status = status_of_child([&ends, parent = getpid()] {
    const std::string wrong = use_in_child(*ends.writer, parent);
    ends.writer.reset();  // like the end of a program
    if (!wrong.empty()) fmt::print(stderr, "in the child: {}\n", wrong);
    return wrong.empty() ? 0 : 1;
  });
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

TEST(StepRhythmTest, TheNextStepIsExpectedAtTheIntervalOfTheLastSteps) {
  StepRhythm rhythm;
  EXPECT_EQ(rhythm.expected_ns(), 0) << "nothing is known yet: spin at once";
  rhythm.observe(1'000'000);
  EXPECT_EQ(rhythm.expected_ns(), 0);
  for (std::int64_t step = 2; step <= 40; ++step) rhythm.observe(step * 1'000'000);
  EXPECT_EQ(rhythm.expected_ns(), 41'000'000);
  EXPECT_EQ(rhythm.margin_ns(), 225'000);
}

}  // namespace
}  // namespace ringside
