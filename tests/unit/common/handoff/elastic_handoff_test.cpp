// SPDX-License-Identifier: BSD-3-Clause
// Each side of a hand-off lends its cores from the beginning of its wait until the store that ends this wait.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/unit/common/handoff/handoff_fixture.hpp"

namespace ringside {
namespace {

using namespace testing;

constexpr std::int64_t kEndlessSpinNs = 30'000'000'000;  // longer than any of the tests waits

class ElasticHandoffTest : public HandoffTest {
 protected:
  /// Both sides lend their cores, unless options_.lends_only is set.
  Attached attach_elastic() {
    options_.elastic = true;
    options_.cores = {1, 5};
    Attached ends;
    ends.listener = std::make_unique<Listener>(socket_path_);
    std::thread producer([&] { ends.writer.emplace(options_, description(), x_only(), residuals()); });
    ends.reader.emplace(accept_reader(*ends.listener));
    EXPECT_TRUE(ends.reader->elastic());
    EXPECT_EQ(ends.reader->producer_cores().cpus(), (std::vector<int>{1, 5})) << "known before it is accepted";
    ends.reader->accept({}, {0, 70});
    producer.join();
    return ends;
  }

  static CoreBorrower analyzer_cores(HandoffWriter& writer) {
    const CoreLoan loan = writer.loan();
    return {*loan.cores, *loan.published};
  }

  /// Waits until the cores are lent. Returns false if they are still not lent after a long time.
  static bool wait_until_lent(CoreBorrower cores) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!cores.lent() && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    return cores.lent();
  }
};
INSTANTIATE_TEST_SUITE_P(Either, ElasticHandoffTest, kBothCoordinations, name_of_coordination);

TEST_P(ElasticHandoffTest, TheAnalyzersCoresAreLentWhileItWaitsUntilAStepIsPublished) {
  Attached ends = attach_elastic();
  CoreBorrower cores = analyzer_cores(*ends.writer);
  EXPECT_EQ(cores.cpus(), (std::vector<int>{0, 70}));
  EXPECT_FALSE(cores.lent()) << "it does not wait yet";
  ASSERT_EQ(ends.writer->claim().status, ClaimStatus::kOk);
  std::jthread analyzer([&] { EXPECT_EQ(next(*ends.reader), NextStatus::kStep); });
  EXPECT_TRUE(wait_until_lent(cores));
  EXPECT_TRUE(cores.enter());
  cores.leave();
  ends.writer->publish({.iteration = 1});
  EXPECT_FALSE(cores.lent()) << "before the analyzer has even woken up";
  EXPECT_FALSE(cores.enter());
  analyzer.join();
  EXPECT_FALSE(cores.lent());
}

TEST_P(ElasticHandoffTest, TheProducersCoresAreLentWhileItWaitsUntilABufferIsReleased) {
  options_.spin_ns = kEndlessSpinNs;  // has no effect, because a producer that borrows lends at once
  Attached ends = attach_elastic();
  publish_one(*ends.writer);
  publish_one(*ends.writer);
  CoreBorrower cores = ends.reader->producer_cores();
  EXPECT_FALSE(cores.lent());
  std::jthread producer([&] { EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kOk); });
  EXPECT_TRUE(wait_until_lent(cores));
  EXPECT_EQ(next(*ends.reader), NextStatus::kStep) << "without a wait of its own";
  EXPECT_FALSE(analyzer_cores(*ends.writer).lent());
  EXPECT_TRUE(cores.lent()) << "while the step is copied";
  ends.reader->release();
  EXPECT_FALSE(cores.lent());
  producer.join();
}

TEST_P(ElasticHandoffTest, AProducerThatLeavesLendsItsCoresWhileTheLastStepsAreCopied) {
  Attached ends = attach_elastic();
  publish_one(*ends.writer);
  std::jthread producer([&] { ends.writer->detach(Outcome::kFinished); });
  EXPECT_TRUE(wait_until_lent(ends.reader->producer_cores()));
  take_one(*ends.reader, 0);
  EXPECT_FALSE(ends.reader->producer_cores().lent());
  answer_goodbye(*ends.reader);
  producer.join();
}

TEST_P(ElasticHandoffTest, AnotherAnalyzerLendsItsOwnCoresAndForgetsGuestsOfTheOneBefore) {
  Attached ends = attach_elastic();
  const std::uint32_t generation = analyzer_cores(*ends.writer).generation();
  publish_one(*ends.writer);
  EXPECT_EQ(next(*ends.reader), NextStatus::kStep);
  publish_one(*ends.writer);
  std::jthread producer([&] { EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kOk); });
  EXPECT_TRUE(wait_until_lent(ends.reader->producer_cores()));
  EXPECT_TRUE(ends.reader->producer_cores().enter());  // this guest never leaves, as if it were killed
  ends.reader.reset();
  ends.reader.emplace(accept_reader(*ends.listener));
  EXPECT_EQ(ends.reader->producer_cores().guests_inside(), 0u);
  ends.reader->accept({}, {3});
  take_one(*ends.reader, 0);
  producer.join();
  EXPECT_EQ(analyzer_cores(*ends.writer).cpus(), std::vector<int>{3});
  EXPECT_NE(analyzer_cores(*ends.writer).generation(), generation);
}

TEST_P(ElasticHandoffTest, AProducerThatOnlyLendsLendsAfterItsSpin) {
  options_.lends_only = true;
  Attached ends = attach_elastic();
  publish_one(*ends.writer);
  publish_one(*ends.writer);
  CoreBorrower cores = ends.reader->producer_cores();
  std::jthread producer([&] { EXPECT_EQ(ends.writer->claim().status, ClaimStatus::kOk); });
  EXPECT_TRUE(wait_until_lent(cores));
  take_one(*ends.reader, 0);
  EXPECT_FALSE(cores.lent());
  producer.join();
}

TEST_P(ElasticHandoffTest, AProducerThatOnlyLendsLendsNothingWhileItSpins) {
  options_.lends_only = true;
  options_.spin_ns = kEndlessSpinNs;
  Attached ends = attach_elastic();
  constexpr std::uint64_t kSteps = 20;
  std::jthread producer([&] {
    for (std::uint64_t step = 0; step < kSteps; ++step) publish_one(*ends.writer);
  });
  for (std::uint64_t step = 0; step < kSteps; ++step) take_one(*ends.reader, step);
  producer.join();
  EXPECT_EQ(ends.reader->producer_cores().bell(), 0u) << "a loan would have rung it";
}

TEST_P(ElasticHandoffTest, TheAnalyzerLendsNoCoreToAProducerThatOnlyLends) {
  options_.lends_only = true;
  Attached ends = attach_elastic();
  EXPECT_TRUE(ends.reader->producer_lends_only());
  std::jthread analyzer([&] { take_one(*ends.reader, 0); });
  publish_one(*ends.writer);
  analyzer.join();
  const CoreBorrower cores = analyzer_cores(*ends.writer);
  EXPECT_EQ(cores.generation(), 0u) << "it has not even listed its cores";
  EXPECT_TRUE(cores.cpus().empty());
  EXPECT_EQ(cores.bell(), 0u);
}

TEST_P(ElasticHandoffTest, WithoutElasticNothingIsEverLent) {
  Attached ends = attach(options_);
  EXPECT_FALSE(ends.reader->elastic());
  EXPECT_TRUE(ends.reader->producer_cores().cpus().empty());
  const std::uint32_t bell = analyzer_cores(*ends.writer).bell();
  const std::uint32_t other_bell = ends.reader->producer_cores().bell();
  std::jthread producer([&] {
    for (int step = 0; step < 5; ++step) publish_one(*ends.writer);
  });
  for (std::uint64_t step = 0; step < 5; ++step) take_one(*ends.reader, step);
  producer.join();
  // If the cores were lent, this would have rung the bell.
  EXPECT_EQ(analyzer_cores(*ends.writer).bell(), bell);
  EXPECT_EQ(ends.reader->producer_cores().bell(), other_bell);
}

}  // namespace
}  // namespace ringside
