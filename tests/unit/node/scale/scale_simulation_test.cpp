// SPDX-License-Identifier: BSD-3-Clause
#include "node/scale/scale_simulation.hpp"

#include <gtest/gtest.h>

#include "common/platform/error.hpp"
#include "node/scale/collection.hpp"

namespace ringside {
namespace {

/// Nodes whose times can be calculated by hand: an iteration takes 10 s, a transfer 2 s, a sweep 4 s, a message 0.01 s.
class ScaleTest : public ::testing::Test {
 protected:
  ScaleTest() {
    request_.node = {.generate_s = 10, .transfer_s = 2, .analyze_s = 4, .publish_s = 0.5};
    request_.network.alpha_s = 0.01;
    request_.coupling_bytes = 0;
    request_.nodes = 4;
    request_.iterations = 100;
  }

  ScaleResult result() const { return simulate(request_); }

  ScaleRequest request_;
};

/// The same node, in the form in which a plan for one node describes it.
class OneNodeTest : public ScaleTest {
 protected:
  OneNodeTest() {
    request_.nodes = 1;
    request_.node.publish_s = 0;
    model_.cores = 2;
    model_.exponent = 3;
    model_.capacity_bytes_s = {1e9};
    set(KernelKind::kGenerate, 10);
    set(KernelKind::kTransfer, 2);
    set(KernelKind::kAnalyze, 4);
  }

  void set(KernelKind kernel, double seconds) {
    model_.kernels[static_cast<std::size_t>(kernel)] =
        KernelModel{.seconds = {{{1, {.value = seconds}}}}, .bytes = {0}};
  }

  double planned_s() const {
    return simulate(model_, {.producer_threads = 1, .analyzer_threads = 1},
                    {.iterations = request_.iterations, .every = request_.every, .buffers = request_.node.buffers})
        .total_s;
  }

  NodeModel model_;
};

TEST_F(OneNodeTest, ASlowSolverTakesAsLongAsPlanned) {
  EXPECT_NEAR(result().total_s, planned_s(), 1e-6);
  EXPECT_NEAR(planned_s(), 100 * 10 + 2 + 4, 1e-6);
}

TEST_F(OneNodeTest, ASlowAnalyzerTakesAsLongAsPlanned) {
  set(KernelKind::kAnalyze, 20);
  request_.node.analyze_s = 20;
  for (const std::uint32_t buffers : {1u, 2u, 4u}) {
    request_.node.buffers = buffers;
    EXPECT_NEAR(result().total_s, planned_s(), 1e-6) << buffers;
  }
}

TEST_F(OneNodeTest, HandOffsAndWakeUpsTakeAsLongAsPlanned) {
  model_.costs.hand_off_s = Measured{.value = 0.5};
  model_.costs.wake_up_s = Measured{.value = 0.25};
  request_.node.hand_off_s = 0.5;
  request_.node.wake_up_s = 0.25;
  for (const double analyze_s : {4.0, 20.0}) {
    set(KernelKind::kAnalyze, analyze_s);
    request_.node.analyze_s = analyze_s;
    for (const std::uint32_t buffers : {1u, 2u}) {  // with one buffer, each iteration waits and is woken up
      request_.node.buffers = buffers;
      EXPECT_NEAR(result().total_s, planned_s(), 1e-6) << analyze_s << ", " << buffers;
    }
  }
}

TEST_F(OneNodeTest, OnlyPublishedIterationsAreAnalysedAsPlanned) {
  set(KernelKind::kAnalyze, 50);
  request_.node.analyze_s = 50;
  for (const std::uint64_t every : {3u, 10u}) {
    request_.every = every;
    EXPECT_NEAR(result().total_s, planned_s(), 1e-6) << every;
  }
}

TEST_F(OneNodeTest, ThePlanOfANodeGivesItsFigures) {
  const RunShape run{.iterations = 100, .every = 10, .buffers = 3, .slots = 5, .step_bytes = 8e6};
  const Prediction planned{.generate_s = 1000, .transfer_s = 30, .commit_s = 10, .analyze_s = 20};
  Costs costs;
  costs.hand_off_s = Measured{.value = 0.5};
  const NodeFigures node = node_figures(planned, run, costs);
  EXPECT_DOUBLE_EQ(node.generate_s, 10);
  EXPECT_DOUBLE_EQ(node.transfer_s, 4);
  EXPECT_DOUBLE_EQ(node.analyze_s, 2);
  EXPECT_DOUBLE_EQ(node.hand_off_s, 0.5);
  EXPECT_DOUBLE_EQ(node.wake_up_s, 0);
  EXPECT_EQ(node.buffers, 3u);
  EXPECT_EQ(node.slots, 5u);
  EXPECT_DOUBLE_EQ(node.step_bytes, 8e6);
}

// --- the global commit -------------------------------------------------------------------------------------------

TEST_F(ScaleTest, TheGlobalCommitLagsByTheStepThatIsPublished) {
  const ScaleResult all = result();
  EXPECT_EQ(all.committed_lag.mean, 1);
  EXPECT_EQ(all.committed_lag.most, 1);
  EXPECT_NEAR(all.commit_s, 2, 1e-9);
}

TEST_F(ScaleTest, TheGlobalCommitLagsByOneMoreIfACopyTakesLongerThanAnIteration) {
  request_.node.transfer_s = 15;
  EXPECT_EQ(result().committed_lag.mean, 2);
  EXPECT_EQ(result().committed_lag.most, 2);
}

/// The exchange that began at the publish of step s contains at most step s - 1. The result of this exchange is applied
/// at the publish of step s + 1, and is recorded with step s + 2.
TEST_F(ScaleTest, ARecordedStepLagsByThreeIfAnExchangeIsOverWithinAStep) {
  request_.progress = Progress::kAlways;
  const ScaleResult all = result();
  EXPECT_EQ(all.recorded_lag.mean, 3);
  EXPECT_EQ(all.recorded_lag.most, 3);
  EXPECT_NEAR(all.exchanges, 1, 1e-9);
}

TEST_F(ScaleTest, AnExchangeThatTakesLongerThanAStepBeginsLessOften) {
  request_.progress = Progress::kAlways;
  request_.coupling = Coupling::kNone;
  request_.network.alpha_s = 6;  // up and down the tree: two times 12 s
  const ScaleResult all = result();
  EXPECT_NEAR(all.exchanges, 1.0 / 3, 0.03);
  EXPECT_GT(all.recorded_lag.mean, 4);
}

/// With two nodes, node 1 sends at its publish. Node 0 answers at its next publish. Node 1 gets the answer at the
/// publish after this, and finds its exchange finished at the following publish. With four nodes, node 3 sends to node
/// 2, node 2 to 0, 0 to 1, and 1 to 3.
TEST_F(ScaleTest, AnExchangeMovesOnceAStepIfTheSolverCallsNoMpi) {
  request_.coupling = Coupling::kNone;
  request_.nodes = 2;
  EXPECT_NEAR(result().exchanges, 1.0 / 3, 0.02);
  request_.nodes = 4;
  EXPECT_NEAR(result().exchanges, 1.0 / 5, 0.02);
}

TEST_F(ScaleTest, TheSolversCallsOfMpiMoveAnExchange) {
  request_.nodes = 2;
  EXPECT_NEAR(result().exchanges, 1, 1e-9);
  EXPECT_EQ(result().recorded_lag.mean, 3);
  request_.nodes = 1024;
  request_.node.generate_spread = 0.05;
  EXPECT_GT(result().exchanges, 1.0 / 3);
}

TEST_F(ScaleTest, AnExchangeOfTwoNodesIsOneMessageOfEach) {
  request_.nodes = 2;
  request_.collection.state_bytes = 0;
  EXPECT_NEAR(result().bytes_sent, 78, 1);
}

TEST_F(ScaleTest, OneNodeSendsNothing) {
  request_.nodes = 1;
  EXPECT_EQ(result().bytes_sent, 0);
  EXPECT_EQ(result().recorded_lag.mean, 3);
}

/// The figures are those in docs/inside/ranks.md.
TEST_F(ScaleTest, TheGlobalCommitOf1024NodesLagsByLessThanTwoSteps) {
  request_.node = {.ranks = 16,
                   .generate_s = 10e-3,
                   .generate_spread = 0.05,
                   .transfer_s = 2e-3,
                   .analyze_s = 3e-3,
                   .analyzer_spread = 0.05,
                   .publish_s = 25e-6,
                   .exchange_s = 10e-6};
  request_.nodes = 1024;
  for (const char* name : {"infiniband", "tcp"}) {
    request_.network = *network_named(name);
    const ScaleResult all = result();
    EXPECT_LT(all.committed_lag.most, 2) << name;
    EXPECT_LT(all.commit_s, all.step_s) << name;
  }
}

// --- waits for other nodes ---------------------------------------------------------------------------------------

TEST_F(ScaleTest, ACollectiveCallTakesAMessageForEachRound) {
  const ScaleResult all = result();
  EXPECT_NEAR(all.bare_step_s, 10 + 2 * 0.01, 1e-9);
  EXPECT_NEAR(all.step_s, 10 + 2 * 0.01 + 0.5, 1e-9);
  request_.coupling = Coupling::kNeighbours;
  EXPECT_NEAR(result().bare_step_s, 10 + 0.01, 1e-9);
}

TEST_F(ScaleTest, ACoupledIterationTakesAsLongAsTheSlowestRankOfAllNodes) {
  request_.nodes = 64;
  request_.node.ranks = 4;
  request_.node.generate_spread = 0.1;
  request_.network.alpha_s = 0;
  request_.iterations = 200;
  double harmonic = 0;
  for (int i = 1; i <= 64 * 4; ++i) harmonic += 1.0 / i;
  EXPECT_NEAR(result().bare_step_s / (10 * (0.9 + 0.1 * harmonic)), 1, 0.02);
}

TEST_F(ScaleTest, ASlowAnalyzerHoldsUpItsOwnRanksByTheirBuffersAndTheOthersByTheSolver) {
  request_.nodes = 8;
  request_.slow_node = 5;
  request_.slow_analyzer = 14.5;  // 2 + 58 s per step
  const ScaleResult coupled = result();
  EXPECT_NEAR(coupled.step_s, 60, 1);
  EXPECT_EQ(coupled.waited_for_node, 5u);
  EXPECT_NEAR(coupled.buffer_wait_s * 8 * 100, coupled.waited_most_s, 1e-6) << "no other node waits for its analyzer";
  EXPECT_NEAR(coupled.coupling_s, 7.0 / 8 * 50, 3);

  request_.coupling = Coupling::kNone;
  const ScaleResult alone = result();
  EXPECT_EQ(alone.waited_for_node, 5u);
  EXPECT_EQ(alone.coupling_s, 0);
  EXPECT_NEAR(alone.waited_most_s, coupled.waited_most_s, 0.05 * coupled.waited_most_s);
}

TEST_F(ScaleTest, ASlowNeighbourSlowsTheWholeRow) {
  request_.coupling = Coupling::kNeighbours;
  request_.slow_node = 1;
  request_.slow_solver = 3;
  request_.network.alpha_s = 0;
  request_.node.publish_s = 0;
  EXPECT_NEAR(result().step_s, 30, 1e-6);
}

TEST_F(ScaleTest, NoNodeIsWaitedForIfASolverIsSlow) {
  request_.slow_node = 2;
  request_.slow_solver = 3;
  EXPECT_EQ(result().waited_most_s, 0);
  EXPECT_NEAR(result().coupling_s, 3.0 / 4 * 20 + 0.02, 1e-6);
}

TEST_F(ScaleTest, TheTimeOfRanksIsAccountedForWhollyHoweverItIsSpent) {
  request_.nodes = 16;
  request_.node.generate_spread = 0.3;
  request_.node.exchange_s = 0.25;
  request_.node.hand_off_s = 0.125;
  request_.node.wake_up_s = 0.5;
  for (const double analyze_s : {4.0, 14.0}) {
    request_.node.analyze_s = analyze_s;
    const ScaleResult all = result();
    const double ranks_s = (all.generate_s + all.coupling_s + all.buffer_wait_s + all.publish_s) * 100;
    // All nodes publish the last step at the same time. The last one to end is an analyzer that is free at this moment.
    const double after_s = all.total_s - (ranks_s - 0.75);
    EXPECT_GE(after_s, 2 + analyze_s - 1e-6);
    EXPECT_LE(after_s, 2 * (2 + analyze_s) + 0.125 + 1e-6);
    EXPECT_NEAR(all.publish_s, 0.75, 1e-9);
  }
}

// --- results of the whole run ------------------------------------------------------------------------------------

TEST_F(ScaleTest, TheResultOfAStepPassesEachNodeInTurnAndComesBack) {
  request_.nodes = 5;
  request_.network.alpha_s = 1;
  request_.node.step_bytes = 2 * 8192;
  request_.collection = {.state_bytes = 0, .turn_s = 0.3, .block_s = 0.1, .record_s = 0.1};
  const ScaleResult all = result();
  EXPECT_NEAR(all.round_s, 5 * (0.3 + 2 * 0.1) + 5 * 1 + 0.1, 1e-6);
  EXPECT_NEAR(all.result_lag.mean * all.step_s, 2 + 4 + all.round_s, 1e-6);
}

/// A step is collected five messages after its round began. The next round that begins has this fact in its state,
/// which arrives at node 4 four messages later.
TEST_F(ScaleTest, PartsAreHeldUntilTheirNodeIsToldThatTheyWereCollected) {
  request_.nodes = 5;
  request_.coupling = Coupling::kNone;
  request_.node.publish_s = 0;
  request_.collection = {.state_bytes = 0, .turn_s = 0, .block_s = 0, .record_s = 0};
  request_.node.step_bytes = 1e9;
  const std::uint64_t kept = store_steps(1e9) / 4;
  request_.network.alpha_s = 0.5;
  EXPECT_EQ(result().held_steps, kept + 2);
  // The step is collected after 20.5 s. The third step after it begins after 30 s and has this fact in its state, which
  // arrives at node 4 another 16.4 s later.
  request_.network.alpha_s = 4.1;
  EXPECT_EQ(result().held_steps, kept + 5);
}

TEST_F(ScaleTest, ALongRoundNeedsMoreStepsThanAStoreHasRoomFor) {
  request_.nodes = 64;
  request_.node.step_bytes = 3e9;
  EXPECT_LE(result().held_steps, result().store_steps);
  request_.network.alpha_s = 0.5;  // 32 s, three steps
  EXPECT_EQ(result().store_steps, 4u);
  EXPECT_GT(result().held_steps, 4u);
  EXPECT_EQ(result().committed_lag.most, 1) << "nothing waits for a round";
}

TEST_F(ScaleTest, ANodeTakesPartInOneStateAfterTheOther) {
  request_.collection.turn_s = 30;  // three steps
  EXPECT_GT(result().result_lag.most, 100);
  EXPECT_GT(result().held_steps, 50u);
}

TEST_F(ScaleTest, ARoundOfMoreThanHalfASecondIsBegunAgain) {
  request_.collection.turn_s = 0.09;
  EXPECT_EQ(result().rounds, 1);
  request_.collection.turn_s = 0.2;  // four turns, and one message per turn
  EXPECT_EQ(result().rounds, 2);
  request_.collection.turn_s = 0.3;
  EXPECT_EQ(result().rounds, 3);
}

TEST_F(ScaleTest, TheCollectorTakesItsTurnAndMakesOneRecordOfEachStepHoweverManyNodesThereAre) {
  request_.collection = {.turn_s = 0.25, .block_s = 0, .record_s = 0.5};
  for (const std::uint32_t nodes : {2u, 4u, 16u}) {
    request_.nodes = nodes;
    EXPECT_NEAR(result().collector_core, (0.25 + 0.5) / result().step_s, 1e-9) << nodes;
  }
}

TEST_F(ScaleTest, OneNodeHasNoRounds) {
  request_.nodes = 1;
  const ScaleResult all = result();
  EXPECT_EQ(all.rounds, 0);
  EXPECT_EQ(all.held_steps, 0u);
  EXPECT_EQ(all.collector_core, 0);
  EXPECT_NEAR(all.result_lag.mean * all.step_s, 2 + 4, 1e-6) << "of its own results";
}

TEST_F(ScaleTest, ANodeHoldsItsBuffersItsSlotsAndItsParts) {
  request_.node.step_bytes = 1e6;
  const ScaleResult all = result();
  EXPECT_DOUBLE_EQ(all.node_bytes, 1e6 * (2 + 8) + store_bytes(1e6));
  EXPECT_NEAR(store_bytes(1e9), 64 << 20, 0.2 * (64 << 20));
}

// --- requests ----------------------------------------------------------------------------------------------------

TEST_F(ScaleTest, TheSameSeedGivesTheSameResult) {
  request_.nodes = 20;
  request_.node.generate_spread = request_.node.analyzer_spread = 0.2;
  const ScaleResult first = result();
  const ScaleResult second = result();
  EXPECT_EQ(first.total_s, second.total_s);
  EXPECT_EQ(first.recorded_lag.mean, second.recorded_lag.mean);
  EXPECT_EQ(first.result_lag.mean, second.result_lag.mean);
  request_.seed = 2;
  EXPECT_NE(result().total_s, first.total_s);
}

TEST_F(ScaleTest, RequestsThatDescribeNoRunAreRefused) {
  const auto refuses = [&](const auto& change) {
    ScaleRequest none = request_;
    change(none);
    EXPECT_THROW(simulate(none), Error);
  };
  refuses([](ScaleRequest& none) { none.nodes = 0; });
  refuses([](ScaleRequest& none) { none.nodes = kMostSimulatedNodes + 1; });
  refuses([](ScaleRequest& none) { none.slow_node = 4; });
  refuses([](ScaleRequest& none) { none.node.buffers = 0; });
  refuses([](ScaleRequest& none) { none.iterations = 0; });
}

}  // namespace
}  // namespace ringside
