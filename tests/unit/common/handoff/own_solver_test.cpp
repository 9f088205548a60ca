// SPDX-License-Identifier: BSD-3-Clause
// What a user's solver experiences when its analyzer dies: the lines of README.md, verbatim, and the contract of a
// claim.
#include <gtest/gtest.h>

#include <thread>
#include <type_traits>
#include <vector>

#include "tests/unit/common/handoff/handoff_fixture.hpp"

namespace ringside {
namespace {

using namespace testing;

class OwnSolverTest : public HandoffFixture {
 protected:
  /// README.md's solver: the given number of iterations, on the buffers it is given.
  static void run_readme_example(const HandoffOptions& options, std::uint64_t iterations) {
    const RunDescription description = testing::description();
    const std::uint64_t rows = kRows;
    const std::vector<double> start(kRows, 1.0);
    const double* previous = start.data();
    const auto solve = [](const double* before, double* after) {
      for (std::uint64_t i = 0; i < kRows; ++i) after[i] = before[i] + 1;
    };
#include "readme_example.inc"
  }
};

TEST_F(OwnSolverTest, TheLinesOfTheReadmePublishEveryIterate) {
  Listener listener(socket_path_);
  std::thread solver([&] { EXPECT_NO_THROW(run_readme_example(options(), 5)); });
  HandoffReader reader = accept_reader(listener);
  reader.accept();
  PublishedStep step;
  for (std::uint64_t k = 1; k <= 5; ++k) {
    ASSERT_EQ(reader.next(step, kMaySpin, nullptr), NextStatus::kStep);
    EXPECT_EQ(step.step.descriptor.iteration, k);
    EXPECT_EQ(doubles(step.payload)[0], 1.0 + static_cast<double>(k));
    reader.release();
  }
  EXPECT_EQ(reader.next(step, kMaySpin, nullptr), NextStatus::kDetached);
  reader.farewell(ExitCode::kDone, "");
  solver.join();
}

TEST_F(OwnSolverTest, TheLinesOfTheReadmeEndWithAnErrorWhenTheAnalyzerDiesForGood) {
  HandoffOptions o = options();
  o.peer_timeout_s = 0.2;
  ExitCode code = ExitCode::kDone;
  std::thread solver;
  {
    Listener listener(socket_path_);
    solver = std::thread([&] {
      try {
        run_readme_example(o, 100);
      } catch (const Error& error) {
        code = error.code();
      }
    });
    HandoffReader reader = accept_reader(listener);
    reader.accept();
  }  // the analyzer is gone, after at most two published steps
  solver.join();
  EXPECT_EQ(code, ExitCode::kPeerLost);
}

TEST_F(OwnSolverTest, AClaimWithoutABufferIsFalseAndNothingCanBePublishedIntoIt) {
  static_assert(!std::is_convertible_v<Claim, bool>, "a claim is no number");
  HandoffOptions o = options();
  o.peer_timeout_s = 0.05;
  std::optional<Listener> listener(std::in_place, socket_path_);
  Attached ends = attach(*listener, o);
  ends.reader.reset();
  listener.reset();
  for (int i = 0; i < 2; ++i) {  // two buffers are free even without an analyzer
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

}  // namespace
}  // namespace ringside
