// SPDX-License-Identifier: BSD-3-Clause
// The steps that the producer publishes or counts as skipped, with the analyzer's side of the hand-off as its peer.
#include "producer/producer.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/handoff/handoff_reader.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/counting_solver.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

class NoPulse final : public Pulse {
 public:
  void beat(std::int64_t) noexcept override {}
};

class ProducerTest : public ::testing::Test {
 protected:
  ProducerTest() {
    options_.iterations = 5;
    process_.socket = folder_.file("analyzer.socket");
  }

  /// Attaches, and runs the solver, while `analyze` does the analyzer's work in this thread. Returns how the run ended.
  SolveEnd run(const std::function<void(HandoffReader&)>& analyze) {
    Listener listener(process_.socket);
    SolveEnd end = SolveEnd::kAnalyzerGone;
    std::thread solver([&] {
      RunDescription description;
      assign(description.solver, "counting");
      RunWriterOptions options{publish_, peer_, process_};
      options.stop = &stop_;
      RunWriter writer(options, description, solver_.variables(), solver_.scalars());
      const SolveRun solve_run{solver_, options_, &stop_, account_, convergence_};
      Producer producer(solve_run, writer, publish_.when_full, pulse_);
      if (before_) before_();
      end = producer.run(writer.kept());
      if (end == SolveEnd::kAnalyzerGone) {
        line_ = writer.error().what();
      } else {
        EXPECT_NO_THROW(writer.detach(RINGSIDE_OUTCOME_FINISHED));
      }
    });
    std::optional<Peer> peer = listener.accept(10'000);
    EXPECT_TRUE(peer);
    {
      HandoffReader reader(std::move(*peer), process_.socket, 10'000);
      reader.accept();
      analyze(reader);
    }
    solver.join();
    return end;
  }

  /// Takes every step until the producer detaches.
  void take_all(HandoffReader& reader) {
    PublishedStep step;
    NextStatus status = NextStatus::kStep;
    while ((status = reader.next(step, false, nullptr)) == NextStatus::kStep) {
      taken_.push_back(step.step.descriptor.iteration);
      skipped_before_.push_back(step.step.descriptor.skipped_before);
      reader.release();
    }
    EXPECT_EQ(status, NextStatus::kDetached);
    reader.farewell(ExitCode::kDone, "");
  }

  void wait_for_iteration(std::uint64_t iteration) const {
    while (account_.iterations.load() < iteration) std::this_thread::yield();
  }

  const testing::TemporaryFolder folder_;
  testing::Counting solver_;
  SolveOptions options_;
  PublishOptions publish_;
  PeerOptions peer_;
  ProcessOptions process_;
  ProducerAccount account_;
  ConvergenceCheck convergence_{0, 1};
  NoPulse pulse_;
  volatile int stop_ = 0;
  std::function<void()> before_;  // called by the solver's thread before the first iteration
  std::string line_;
  std::vector<std::uint64_t> taken_;
  std::vector<std::uint64_t> skipped_before_;
};

TEST_F(ProducerTest, EachStepIsPublished) {
  EXPECT_EQ(run([this](HandoffReader& reader) { take_all(reader); }), SolveEnd::kIterationsDone);
  EXPECT_EQ(taken_, (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(account_.steps_published.load(), 5u);
  EXPECT_EQ(account_.steps_skipped.load(), 0u);
}

TEST_F(ProducerTest, TheLastStepIsPublishedAfterAllAndNotCountedAsSkipped) {
  publish_.when_full = WhenFull::kSkip;
  const SolveEnd end = run([this](HandoffReader& reader) {
    wait_for_iteration(5);  // no buffer is released before that iteration
    take_all(reader);
  });
  EXPECT_EQ(end, SolveEnd::kIterationsDone);
  EXPECT_EQ(taken_, (std::vector<std::uint64_t>{1, 2, 5}));
  EXPECT_EQ(skipped_before_, (std::vector<std::uint64_t>{0, 0, 2}));
  EXPECT_EQ(account_.steps_published.load(), 3u);
  EXPECT_EQ(account_.steps_skipped.load(), 2u);
}

TEST_F(ProducerTest, WithoutAnAnalyzerStepsAreSkippedAndTheLastOneWaitsForAnother) {
  publish_.on_analyzer_loss = OnAnalyzerLoss::kContinue;
  options_.iterations = 1000;
  peer_.timeout_s = 0.2;
  const SolveEnd end = run([](HandoffReader& reader) {
    PublishedStep step;
    ASSERT_EQ(reader.next(step, false, nullptr), NextStatus::kStep);
  });
  EXPECT_EQ(end, SolveEnd::kAnalyzerGone);
  expect_has(line_, {"no other took over within"});
  EXPECT_EQ(account_.iterations.load(), 1000u) << "the solver went on";
  EXPECT_EQ(account_.steps_published.load() + account_.steps_skipped.load(), 999u) << "the last one is neither";
}

TEST_F(ProducerTest, AStopBeforeTheFirstStepEndsARunWithoutOne) {
  before_ = [this] { stop_ = 1; };
  EXPECT_EQ(run([this](HandoffReader& reader) { take_all(reader); }), SolveEnd::kInterrupted);
  EXPECT_EQ(taken_, std::vector<std::uint64_t>{});
  EXPECT_EQ(account_.iterations.load(), 0u);
}

}  // namespace
}  // namespace ringside
