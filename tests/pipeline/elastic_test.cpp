// SPDX-License-Identifier: BSD-3-Clause
// Waiting cores work for the other process: the bits remain the same, the account shows the lent cores, and no step is
// lost if one of the two processes is killed.
#include <gtest/gtest.h>
#include <sched.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

struct Kept {
  std::uint64_t iteration;
  std::vector<double> x;
  Reductions reductions;
};

class ElasticTest : public PipelineTest {
 protected:
  void SetUp() override {
    if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "needs a core for each process";
  }

  std::vector<Kept> kept() const {
    std::vector<Kept> all;
    const RingReader reader = RingReader::open(pool_);
    for (const KeptSlot& slot : reader.recover().kept) {
      Kept one{.iteration = slot.header.iteration, .x = {}, .reductions = {}};
      const auto* x = reader.ring().values<double>(slot.slot);
      one.x.assign(x, x + reader.ring().geometry().entries());
      EXPECT_EQ(reader.ring().reductions(slot.slot, slot.header, one.reductions), ResultsState::kRecorded);
      all.push_back(one);
    }
    return all;
  }

  std::vector<Kept> solve(const std::string& matrix, const Words& options) {
    std::filesystem::remove(pool_);
    expect_exit(0, run_it(matrix, options));
    expect_intact();
    return kept();
  }

  /// Runs an example program, which publishes through libringside and does not know of elastic cores.
  std::vector<Kept> solve_with_program(const Words& options) {
    std::filesystem::remove(pool_);
    const Words run_it = {"run", "--pool=" + pool_, "--summary=" + summary_};
    const std::string program = std::string(RINGSIDE_BIN_DIR) + "/publish_from_your_solver";
    expect_exit(0, run("ringside", joined(joined(run_it, options), {"--", program, "--iterations", "60"})));
    expect_intact();
    return kept();
  }

  static void expect_same_bits(const std::vector<Kept>& found, const std::vector<Kept>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].iteration, expected[i].iteration);
      ASSERT_EQ(found[i].x.size(), expected[i].x.size());
      EXPECT_EQ(std::memcmp(found[i].x.data(), expected[i].x.data(), found[i].x.size() * sizeof(double)), 0)
          << "iteration " << found[i].iteration;
      EXPECT_EQ(std::memcmp(&found[i].reductions, &expected[i].reductions, sizeof(Reductions)), 0)
          << "iteration " << found[i].iteration;
    }
  }
};

using EitherElasticTest = testing::Either<ElasticTest>;
INSTANTIATE_TEST_SUITE_P(Coordination, EitherElasticTest, testing::kBothCoordinations, testing::name_of_coordination);

TEST_P(EitherElasticTest, IteratesAndReductionsAreTheSameBits) {
  struct Case {
    Words options;
    const char* lent;  // key of the cores that must have waited, and thus have helped
  };
  // Steps that are so long that the other process waits for them.
  const char* const grid = testing::kSanitized ? "grid:300" : "grid:500";
  // With many passes, the producer waits. With five iterations per step, the analyzer waits.
  for (const Case& one : {Case{{"--passes=50"}, "producer_cores_lent_s"}, Case{{"--every=5"}, "analyzer_cores_lent_s"},
                          Case{{"--passes=20", "--every=3"}, nullptr}, Case{{"--reduce=transfer"}, nullptr}}) {
    SCOPED_TRACE(one.options.front());
    const Words strict = joined({"--iterations=60", "--durability=process"}, one.options);
    const std::vector<Kept> expected = solve(grid, strict);
    expect_values(summary(), {{"elastic", false}, {"analyzer_cores_lent_s", 0.0}, {"producer_cores_lent_s", 0.0}});
    const Json change = summary()["residual_l1"];
    // Which of the two waits depends on their speeds: on a busy machine, the other one may be the slower one for a
    // whole run.
    constexpr int kMostRuns = 5;
    for (int runs = 1; runs <= kMostRuns; ++runs) {
      expect_same_bits(solve(grid, joined(strict, {"--elastic"})), expected);
      expect_values(summary(), {{"elastic", true}, {"residual_l1", change}});
      if (one.lent == nullptr || summary()[one.lent].get<double>() > 0.0) break;
      EXPECT_LT(runs, kMostRuns) << one.lent << " is 0 in each of them";
    }
  }
}

TEST_F(ElasticTest, CoresOfAProgramThatWaitsReduceAndTheBitsAreTheSame) {
  const Words options = {"--durability=process", "--passes=20"};  // with many passes, the program waits in its claims
  const std::vector<Kept> expected = solve_with_program(options);
  expect_values(summary(), {{"elastic", false}, {"producer_cores_lent_s", 0.0}, {"analyzer_cores_lent_s", nullptr}});
  const Json last = summary()["last"];
  constexpr int kMostRuns = 5;  // on a busy machine, the program may be the slower one for a whole run
  for (int runs = 1; runs <= kMostRuns; ++runs) {
    expect_same_bits(solve_with_program(joined(options, {"--elastic"})), expected);
    expect_values(summary(), {{"elastic", true}, {"analyzer_cores_lent_s", nullptr}, {"last", last}});
    if (summary()["producer_cores_lent_s"].get<double>() > 0.0) break;
    EXPECT_LT(runs, kMostRuns) << "no core was lent in any of them";
  }
}

TEST_P(EitherElasticTest, AKilledAnalyzerTakesNothingWithIt) {
  Process ringside("ringside", run_arguments("grid:300", {kEndless, "--passes=5", "--slots=64", "--durability=process",
                                                          "--elastic"}));
  kill_three_analyzers(ringside.pid());
  expect_exit(130, ringside.stop(SIGINT));
  expect_intact();
  expect_values(summary(), {{"analyzer_restarts", 3}, {"steps_committed", summary()["iterations"]}});
  const std::vector<Kept> found = kept();
  ASSERT_EQ(found.size(), 64u);
  const std::uint64_t last = found.back().iteration;
  const std::vector<Kept> expected =
      solve("grid:300", {"--iterations=" + std::to_string(last), "--slots=64", "--durability=process"});
  // The change is also known for the first iterate of a new analyzer, because the ring holds the previous iterate.
  expect_same_bits(found, expected);
}

TEST_P(EitherElasticTest, AfterAKilledProducerTheRunContinuesBitForBit) {
  Process ringside("ringside", run_arguments("grid:300", {kEndless, "--durability=process", "--elastic"}));
  ASSERT_TRUE(wait_for_commits(50));
  kill(wait_for_child(ringside.pid(), "ringside-producer"), SIGKILL);
  EXPECT_EQ(ringside.finish().exit_code, 4);
  expect_intact();
  const std::uint64_t reached = kept().back().iteration;
  const std::uint64_t last = reached + 50;
  expect_exit(
      0, run_it("grid:300", {"--resume", "--durability=process", "--elastic", "--iterations=" + std::to_string(last)}));
  const std::vector<Kept> found = kept();
  expect_same_bits(found, solve("grid:300", {"--iterations=" + std::to_string(last), "--durability=process"}));
}

TEST_F(ElasticTest, AServiceWithoutCoresOfItsOwnLendsNoneAndTheProducerSaysSo) {
  const std::string socket = folder_.file("analyzer.socket");
  const auto one_thread = [] { setenv("OMP_NUM_THREADS", "1", 1); };
  Process analyzer("ringside-analyzer", {"--once", "--socket=" + socket, "--pool=" + pool_}, one_thread);
  const Finished ran =
      expect_exit(0, run("ringside-producer", {"--matrix=grid:50", "--iterations=5", "--socket=" + socket,
                                               "--cores=" + std::to_string(sched_getcpu()), "--elastic"}));
  expect_has(ran.err, {"no cores of its own"});
  EXPECT_EQ(analyzer.finish().exit_code, 0);
  expect_intact();
}

TEST_F(ElasticTest, AProducerThatDoesNotSayWhichCoresAreLentIsRefused) {
  expect_refusal(2, run("ringside-producer", {"--matrix=grid:50", "--socket=" + folder_.file("none"), "--elastic"}),
                 {"--elastic", "--cores"});
}

}  // namespace
}  // namespace ringside
