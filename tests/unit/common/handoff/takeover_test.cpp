// SPDX-License-Identifier: BSD-3-Clause
// The hand-off when an analyzer is lost and another one takes over, and how a run resumes from a kept iterate. The
// analyzers are readers in this process; a lost analyzer is a reader that has closed its connection.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <future>
#include <thread>

#include "tests/unit/common/handoff/handoff_fixture.hpp"

namespace ringside {
namespace {

using namespace testing;

class TakeoverTest : public HandoffTest {
 protected:
  /// Ends the analyzer as if it were killed: its connection closes without a farewell.
  static void lose(Attached& ends) { ends.reader.reset(); }

  /// Attaches, publishes a step in each of the two buffers, and then ends the analyzer.
  Attached strand(const HandoffOptions& options) {
    Attached ends = attach_full(options);
    lose(ends);
    return ends;
  }

  /// Runs `producer` in producer_ while a successor is accepted here. from: the step from which the successor lets the
  /// run continue.
  HandoffReader succeed(Listener& listener, const std::function<void()>& producer, const Continuation& from = {}) {
    producer_ = std::thread(producer);
    HandoffReader reader = accept_reader(listener);
    reader.accept(from);
    return reader;
  }

  /// As above, with a `writer` that publishes a step as the producer.
  HandoffReader succeed(Listener& listener, HandoffWriter& writer, const Continuation& from = {}) {
    return succeed(
        listener, [&] { publish_one(writer); }, from);
  }

  static StepWithScalars kept_step(std::uint64_t iteration) {
    return {.descriptor = {.step = iteration - 1, .iteration = iteration, .residual_l1 = 0.5}};
  }

  std::thread producer_;  // that of `succeed`, which the test joins
};

INSTANTIATE_TEST_SUITE_P(Either, TakeoverTest, kBothCoordinations, name_of_coordination);

// An analyzer that ends closes its sockets first, and may then take long to close its pool.
TEST_P(TakeoverTest, AnAnalyzerThatHangsUpOnRequestsAndLivesOnIsFollowedByItsSuccessor) {
  Attached ends = strand(options_);
  producer_ = std::thread([&] { publish_one(*ends.writer); });
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(ends.listener->accept(10'000)) << i;  // the peer is dropped at once
  HandoffReader successor = accept_reader(*ends.listener);
  successor.accept({});
  for (std::uint64_t step = 0; step < 3; ++step) take_one(successor, step);
  producer_.join();
}

TEST_P(TakeoverTest, ASuccessorContinuesWithTheFirstStepThatIsNotCommitted) {
  Attached ends = attach(options_);
  publish_one(*ends.writer);
  take_one(*ends.reader, 0);
  publish_one(*ends.writer);
  publish_one(*ends.writer);
  lose(ends);

  HandoffReader successor = succeed(*ends.listener, *ends.writer);
  EXPECT_EQ(successor.steps_released(), 1u);
  for (std::uint64_t step = 1; step < 4; ++step) take_one(successor, step);
  producer_.join();
  EXPECT_GT(ends.writer->idle_ns(), 0) << "the wait for a successor is idleness";
  EXPECT_EQ(ends.writer->skipped(), 0u);

  std::thread detach([&] { EXPECT_NO_THROW(ends.writer->detach(Outcome::kFinished)); });
  answer_goodbye(successor);
  detach.join();
}

TEST_P(TakeoverTest, AStepThatWasCommittedButNotReleasedIsNotTakenTwice) {
  Attached ends = attach_full(options_);
  PublishedStep step;
  ASSERT_EQ(ends.reader->next(step, kMaySpin, nullptr), NextStatus::kStep);
  const Continuation from{.last = step.step, .resumed = {}, .kept = {}, .note = {}};
  lose(ends);

  HandoffReader successor = succeed(*ends.listener, *ends.writer, from);
  EXPECT_EQ(successor.steps_released(), 1u);
  take_one(successor, 1);
  take_one(successor, 2);
  producer_.join();
}

TEST_P(TakeoverTest, AnAnalyzerThatWasAskedToStopIsSucceededLikeOneThatDied) {
  Attached ends = attach_full(options_);
  take_one(*ends.reader, 0);
  take_one(*ends.reader, 1);
  ends.reader->farewell(ExitCode::kPeerLost, "asked to stop", true);
  lose(ends);
  publish_one(*ends.writer);
  publish_one(*ends.writer);

  HandoffReader successor = succeed(*ends.listener, *ends.writer);
  for (std::uint64_t s = 2; s < 5; ++s) take_one(successor, s);
  producer_.join();
}

TEST_P(TakeoverTest, WithoutASuccessorWaitingEndsWithThePeersTimeout) {
  options_.peer_timeout_s = 0.1;
  Attached ends = strand(options_);
  EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kAnalyzerLost);
  const Error failure = ends.writer->failure(ClaimStatus::kAnalyzerLost);
  EXPECT_EQ(failure.code(), ExitCode::kPeerLost);
  EXPECT_NE(std::string(failure.what()).find("--peer-timeout"), std::string::npos) << failure.what();
}

TEST_P(TakeoverTest, ContinuingSkipsStepsUntilASuccessorIsThere) {
  options_.on_analyzer_loss = OnAnalyzerLoss::kContinue;
  Attached ends = strand(options_);
  ends.listener.reset();
  for (int s = 0; s < 3; ++s) {
    EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kFull);
    ends.writer->count_skip();
  }

  ends.listener = std::make_unique<Listener>(socket_path_);
  std::promise<std::uint64_t> skipped;
  HandoffReader successor = succeed(*ends.listener, [&] {
    Claim claim;
    while ((claim = ends.writer->claim()).status == ClaimStatus::kFull) {
      ends.writer->count_skip();
      std::this_thread::yield();
    }
    ASSERT_EQ(claim.status, ClaimStatus::kOk);
    fill(claim.x(), 2);
    skipped.set_value(ends.writer->skipped());
    ends.writer->publish({.iteration = 100});
  });
  take_one(successor, 0);
  take_one(successor, 1);
  PublishedStep step;
  ASSERT_EQ(successor.next(step, kMaySpin, nullptr), NextStatus::kStep);
  EXPECT_EQ(step.step.descriptor.iteration, 100u);
  EXPECT_EQ(step.step.descriptor.skipped_before, skipped.get_future().get());
  producer_.join();
}

TEST_P(TakeoverTest, ContinuingWaitsOnceForAnAnalyzerThatDoesNotMoveAndThenSkipsUntilItDoes) {
  options_.on_analyzer_loss = OnAnalyzerLoss::kContinue;
  options_.peer_timeout_s = 0.1;
  Attached ends = attach_full(options_);
  EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kFull);
  const std::int64_t waited_ns = ends.writer->idle_ns();
  EXPECT_GT(waited_ns, 0);
  for (int s = 0; s < 5; ++s) EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kFull);
  EXPECT_EQ(ends.writer->idle_ns(), waited_ns) << "the solver was held up again";
  take_one(*ends.reader, 0);
  publish_one(*ends.writer);
  take_one(*ends.reader, 1);
  take_one(*ends.reader, 2);
}

TEST_P(TakeoverTest, ARequestReportsThatAnAnalyzerDiedDuringIt) {
  const pid_t first = fork();  // the process dies, because only closing the connection means a refusal
  if (first == 0) {
    Listener listener(socket_path_);
    _exit(static_cast<int>(accept_reader(listener).pool_use()));
  }
  std::optional<HandoffWriter> writer;
  std::thread producer([&] { writer.emplace(options_, description(), x_only(), residuals()); });
  int status = 0;
  waitpid(first, &status, 0);
  EXPECT_EQ(status, W_EXITCODE(static_cast<int>(PoolUse::kFresh), 0));
  Listener listener(socket_path_);
  HandoffReader second = accept_reader(listener);
  EXPECT_EQ(second.pool_use(), PoolUse::kFreshAgain);
  second.accept();
  producer.join();
}

TEST_P(TakeoverTest, OnceAStepIsCommittedASuccessorIsNotAskedToDiscardOrResume) {
  for (const PoolUse use : {PoolUse::kOverwrite, PoolUse::kResume}) {
    options_.pool_use = use;
    Attached ends = strand(options_);
    std::optional<HandoffReader> successor(std::in_place, succeed(*ends.listener, *ends.writer));
    EXPECT_EQ(successor->pool_use(), use) << "nothing of ours is in the pool yet";
    take_one(*successor, 0);
    producer_.join();
    successor.reset();
    HandoffReader last = succeed(*ends.listener, *ends.writer);
    EXPECT_EQ(last.pool_use(), PoolUse::kFresh);
    take_one(last, 1);
    producer_.join();
  }
}

TEST_P(TakeoverTest, AClaimAtOnceLeavesTheWaitForASuccessorToTheNextClaim) {
  Attached ends = strand(options_);
  EXPECT_EQ(ends.writer->claim_at_once().status, ClaimStatus::kFull);
  HandoffReader successor = succeed(*ends.listener, *ends.writer);
  take_one(successor, 0);
  producer_.join();
}

TEST_P(TakeoverTest, TheLastIterateWaitsForASuccessorEvenIfStepsAreSkipped) {
  options_.on_analyzer_loss = OnAnalyzerLoss::kContinue;
  Attached ends = strand(options_);
  HandoffReader successor =
      succeed(*ends.listener, [&] { EXPECT_EQ(ends.writer->claim_last().status, ClaimStatus::kOk); });
  take_one(successor, 0);
  producer_.join();
}

TEST_P(TakeoverTest, ASuccessorTakesOverFromAnAnalyzerThatIsLostDuringTheGoodbye) {
  Attached ends = attach_full(options_);
  std::thread producer([&] { EXPECT_NO_THROW(ends.writer->detach(Outcome::kFinished)); });
  take_one(*ends.reader, 0);
  lose(ends);
  HandoffReader successor = accept_reader(*ends.listener);
  successor.accept();
  take_one(successor, 1);
  answer_goodbye(successor);
  producer.join();
}

TEST_P(TakeoverTest, ASuccessorThatRefusesEndsTheRunWithItsMessage) {
  Attached ends = strand(options_);
  std::thread producer([&] {
    EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kAnalyzerFailed);
    EXPECT_STREQ(ends.writer->failure(ClaimStatus::kAnalyzerFailed).what(), "the pool is another one's");
  });
  accept_reader(*ends.listener).refuse(usage_error("the pool is another one's"));
  producer.join();
}

TEST_P(TakeoverTest, OnceAnotherSuccessorHasTakenOverARefusalNoLongerExplainsAFailure) {
  Attached ends = strand(options_);
  producer_ = std::thread([&] { EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kAnalyzerFailed); });
  accept_reader(*ends.listener).refuse(system_error("no descriptor is left"));
  producer_.join();
  EXPECT_STREQ(ends.writer->failure(ClaimStatus::kAnalyzerFailed).what(), "no descriptor is left");

  HandoffReader second = succeed(*ends.listener, *ends.writer);
  take_one(second, 0);
  producer_.join();
  const Error failure = ends.writer->failure(ClaimStatus::kAnalyzerStalled);
  EXPECT_EQ(failure.code(), ExitCode::kPeerLost) << failure.what();
  EXPECT_NE(std::string(failure.what()).find("made no progress"), std::string::npos) << failure.what();
}

TEST_P(TakeoverTest, ASuccessorWhoseAnswerCannotBeTakenInSeesTheProducerHangUp) {
  Attached ends = strand(options_);
  std::thread producer([&] { EXPECT_FALSE(ends.writer->claim()); });
  std::optional<Peer> successor = ends.listener->accept(10'000);
  ASSERT_TRUE(successor.has_value());
  std::array<std::byte, kMostRequestBytes> request;
  ASSERT_TRUE(successor->receive(request, 10'000).has_value());
  AttachReply reply;
  reply.resumed = 1;  // but there is no iterate from which to resume
  successor->send(std::as_bytes(std::span(&reply, 1)));
  producer.join();
  EXPECT_FALSE(successor->alive());
}

TEST_P(TakeoverTest, AProducerThatMustStopDoesNotWaitForASuccessor) {
  std::atomic<bool> stop{false};
  options_.stop = &stop;
  Attached ends = strand(options_);
  stop = true;
  EXPECT_EQ(ends.writer->claim_last().status, ClaimStatus::kAnalyzerLost);
  EXPECT_THROW(ends.writer->detach(Outcome::kInterrupted), Error);
}

TEST_P(TakeoverTest, ARunThatContinuesGetsTheKeptStepItsStepAndItsName) {
  Listener listener(socket_path_);
  options_.pool_use = PoolUse::kResume;
  std::thread producer([&] {
    HandoffWriter writer(options_, description(), x_only(), residuals());
    EXPECT_EQ(writer.note(), "mind the gap");
    const std::optional<KeptStep> kept = writer.take_kept();
    ASSERT_TRUE(kept.has_value());
    EXPECT_EQ(kept->run_id, (Id128{8, 9}));
    EXPECT_EQ(kept->iteration, 41u);
    EXPECT_TRUE(kept->has_scalar(0));
    EXPECT_EQ(kept->scalar(0).f64(), 0.5);
    EXPECT_FALSE(kept->has_scalar(1));
    EXPECT_TRUE(holds(kept->x(), 40));
    EXPECT_FALSE(writer.take_kept().has_value());
    const Claim claim = writer.claim();
    fill(claim.x(), 0);
    writer.publish({.iteration = 42});
    EXPECT_THROW(writer.detach(Outcome::kFinished), Error) << "nobody commits it";
  });
  HandoffReader reader = accept_reader(listener);
  EXPECT_EQ(reader.pool_use(), PoolUse::kResume);
  Continuation from{.last = kept_step(41), .resumed = Id128{8, 9}, .kept = {}, .note = "mind the gap"};
  const std::size_t scalars = kept_scalars_offset(kRows * sizeof(double));
  from.kept = SharedMapping::create("test", scalars + sizeof(KeptScalars), PeerAccess::kReadOnly);
  fill(reinterpret_cast<double*>(from.kept.data()), 40);
  const KeptScalars kept{.present = 1, .words = {ScalarValue(0.5).word}};
  std::memcpy(from.kept.data() + scalars, &kept, sizeof kept);
  reader.accept(from);
  take_one(reader, 0);
  reader.farewell(ExitCode::kSystem, "no");
  producer.join();
}

TEST_P(TakeoverTest, AnIterationThatIsKeptAlreadyIsNotTakenAgain) {
  Attached ends = strand(options_);
  const Continuation from{.last = kept_step(50), .resumed = {}, .kept = {}, .note = {}};
  HandoffReader successor = succeed(
      *ends.listener, [&] { EXPECT_NE(ends.writer->claim().status, ClaimStatus::kOk); }, from);
  EXPECT_EQ(next(successor), NextStatus::kViolation) << "iteration 1 after iteration 50";
  successor.farewell(ExitCode::kPeerLost, "no");
  producer_.join();
}

TEST_P(TakeoverTest, AStoppedProducerIsNoticedWithinThePeersTimeout) {
  Listener listener(socket_path_);
  const pid_t child = fork();
  if (child == 0) {
    HandoffWriter writer(options_, description(), x_only(), residuals());
    publish_one(writer);
    raise(SIGSTOP);
    _exit(0);
  }
  std::optional<Peer> peer = listener.accept(10'000);
  ASSERT_TRUE(peer.has_value());
  HandoffReader reader(std::move(*peer), socket_path_, 10'000, 0.1, make_messages);
  reader.accept();
  take_one(reader, 0);
  EXPECT_EQ(next(reader), NextStatus::kProducerStopped);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace ringside
