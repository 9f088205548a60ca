// SPDX-License-Identifier: BSD-3-Clause
#include "node/plan/pipeline_simulation.hpp"

#include <gtest/gtest.h>

#include "common/handoff/handoff_options.hpp"

namespace ringside {
namespace {

/// A node whose kernels do not slow each other down, so that every time can be calculated by hand.
class SimulationTest : public ::testing::Test {
 protected:
  SimulationTest() {
    model_.cores = 2;
    model_.exponent = 3;
    model_.capacity_bytes_s = {1e9};
    set(KernelKind::kGenerate, 10);
    set(KernelKind::kTransfer, 2);
    set(KernelKind::kTransferReduced, 3);
    set(KernelKind::kAnalyze, 4);
    set(KernelKind::kSweep, 1);
    run_.iterations = 100;
  }

  void set(KernelKind kernel, double one_thread_s, double two_threads_s = 0) {
    KernelModel made{.seconds = {{{1, {.value = one_thread_s}}}}, .bytes = {0}};
    if (two_threads_s > 0) made.seconds.points.push_back({2, {.value = two_threads_s}});
    model_.kernels[static_cast<std::size_t>(kernel)] = made;
  }

  Prediction predict(const Configuration& configuration) const { return simulate(model_, configuration, run_); }

  NodeModel model_;
  RunShape run_;
  Configuration split_{.producer_threads = 1, .analyzer_threads = 1};
};

TEST_F(SimulationTest, ASlowSolverSetsThePaceAndTheLastIterateIsStillAnalysed) {
  const Prediction p = predict(split_);
  EXPECT_NEAR(p.total_s, 100 * 10 + 2 + 4, 1e-6);
  EXPECT_NEAR(p.analyzer_idle_s, 100 * 10 - 99 * (2 + 4), 1e-6);
  EXPECT_EQ(p.bottleneck, Bottleneck::kGenerate);
}

TEST_F(SimulationTest, ASlowAnalyzerSetsThePaceBehindTheFirstIteration) {
  set(KernelKind::kAnalyze, 20);
  const Prediction p = predict(split_);
  EXPECT_NEAR(p.total_s, 10 + 100 * (2 + 20), 1e-6);
  EXPECT_EQ(p.bottleneck, Bottleneck::kAnalyze);
}

TEST_F(SimulationTest, FurtherPassesAreFurtherSweeps) {
  run_.passes = 17;
  EXPECT_NEAR(predict(split_).total_s, 10 + 100 * (2 + 4 + 16), 1e-6);
}

TEST_F(SimulationTest, AReducingCopyNeedsNoFirstSweep) {
  split_.reduce_on_transfer = true;
  EXPECT_NEAR(predict(split_).total_s, 100 * 10 + 3, 1e-6);
}

TEST_F(SimulationTest, OnlyPublishedIteratesAreAnalysed) {
  set(KernelKind::kAnalyze, 20);
  run_.every = 10;
  const Prediction p = predict(split_);
  EXPECT_NEAR(p.total_s, 100 * 10 + 22, 1e-6);
  EXPECT_NEAR(p.analyze_s, 10 * 20, 1e-6);
}

TEST_F(SimulationTest, IterationsThatAreNotPublishedAreOnePieceOfWork) {
  run_.iterations = 1'000'000'000;
  run_.every = 1'000'000;
  EXPECT_NEAR(predict(split_).total_s / 1e10, 1, 1e-3);
}

TEST_F(SimulationTest, ABufferMoreDoesNotChangeTheSteadyRhythm) {
  set(KernelKind::kAnalyze, 20);
  run_.iterations = 5000;
  const double two = predict(split_).total_s;
  run_.buffers = 8;
  EXPECT_NEAR(predict(split_).total_s / two, 1, 1e-3);
}

TEST_F(SimulationTest, ALongRunIsExtrapolatedToWhatAllItsStepsTake) {
  run_.iterations = 100'000;
  EXPECT_NEAR(predict(split_).total_s, 100'000.0 * 10, 20);
}

TEST_F(SimulationTest, WaitingCoresHelpWithElastic) {
  set(KernelKind::kGenerate, 10, 5);
  split_.elastic = true;
  // While the analyzer works (6 s), the solver has one core and does 6/10 of an iteration. After these 6 s, the solver
  // has two cores, and the remaining 4/10 take 2 s.
  EXPECT_NEAR(predict(split_).total_s, 100 * 8, 10);
}

TEST_F(SimulationTest, ALoanThatCostsMoreThanTheWaitHelpsNeitherSide) {
  set(KernelKind::kGenerate, 10, 5);
  split_.elastic = true;
  model_.costs.loan_s = Measured{.value = 100};
  EXPECT_NEAR(predict(split_).total_s, 100 * 10 + 6, 1e-6);
}

TEST_F(SimulationTest, AnAnalyzerThatWaitsPaysForTheHandOff) {
  model_.costs.hand_off_s = Measured{.value = 0.5};
  EXPECT_NEAR(predict(split_).total_s, 100 * 10 + 0.5 + 2 + 4, 1e-6);
}

TEST_F(SimulationTest, AnAnalyzerThatIsBehindPaysForTheFirstHandOffOnly) {
  model_.costs.hand_off_s = Measured{.value = 0.5};
  set(KernelKind::kAnalyze, 20);
  EXPECT_NEAR(predict(split_).total_s, 10 + 0.5 + 100 * (2 + 20), 1e-6);
}

TEST_F(SimulationTest, ASlowDiskSetsThePaceOnceTheRingIsFull) {
  model_.sync_s = Measured{.value = 0.001};
  model_.sync_gb_s = Measured{.value = 1e-3};
  run_.step_bytes = 50e6;  // 50 s per step
  const Prediction p = predict(split_);
  EXPECT_NEAR(p.total_s, 100 * 50, 200);
  EXPECT_EQ(p.bottleneck, Bottleneck::kDisk);
}

TEST_F(SimulationTest, AFastDiskIsNeverWaitedForButAtTheEnd) {
  model_.sync_s = Measured{.value = 0.5};
  model_.sync_gb_s = Measured{.value = 1};
  run_.step_bytes = 1e9;  // 1 s per step
  EXPECT_NEAR(predict(split_).total_s, 100 * 10 + 6, 1.6);
}

TEST_F(SimulationTest, BothSidesAccountForTheWholeTime) {
  set(KernelKind::kGenerate, 7, 4);
  for (const bool elastic : {false, true}) {
    split_.elastic = elastic;
    const Prediction p = predict(split_);
    EXPECT_NEAR(p.generate_s + p.producer_idle_s, p.total_s, 1e-6);
    EXPECT_NEAR(p.transfer_s + p.commit_s + p.analyze_s + p.analyzer_idle_s, p.total_s, 1e-6);
  }
}

TEST(Simulation, AProducerSpinsAsLongAsInARun) {
  EXPECT_DOUBLE_EQ(kProducerSpinS * 1e9, static_cast<double>(HandoffOptions().spin_ns));
}

}  // namespace
}  // namespace ringside
