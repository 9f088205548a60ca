// SPDX-License-Identifier: BSD-3-Clause
// `ringside run --cores auto`: a plan with a valid calibration, the fixed rule without a calibration, and the same bits
// in both cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "node/file/node_file.hpp"
#include "tests/pipeline/pipeline_fixture.hpp"

namespace ringside {
namespace {

using namespace testing::names;

class AutoCoresTest : public PipelineTest {
 protected:
  /// Measures this machine, once for all tests, and copies the node file for this test. Must be called first, because
  /// it moves the pool to the measured folder.
  void calibrate() {
    static const TemporaryFolder measured;
    const std::string file = measured.file("node.json");
    if (!std::filesystem::exists(file)) {
      expect_done({"calibrate", "--matrix=grid:50", "--budget=1", "--quiet", "--memory=" + measured.path(),
                   "--output=" + file});
    }
    std::filesystem::copy_file(file, node_file_);
    pool_ = measured.file("test.pool");
  }

  /// Stores the calibration, changed by `change`, where a run looks for a calibration.
  template <class Change>
  void calibrate_by_default(const Change& change) {
    calibrate();
    Node node = read_node(node_file_);
    change(node);
    std::filesystem::create_directory(folder_.file("ringside"));
    std::ofstream(folder_.file("ringside/node.json")) << to_json(node).dump();
  }

  /// In the node file, multiplies the durations of the kernels and pairs by `factor`, and clears the costs.
  void scale_seconds(double factor) const {
    Node node = read_node(node_file_);
    for (KernelFigures& kernel : node.kernels) {
      for (Series::Point& point : kernel.seconds.points) point.figure.value *= factor;
    }
    for (PairFigures& pair : node.pairs) {
      pair.first_s.value *= factor;
      pair.second_s.value *= factor;
    }
    node.costs = {};
    std::ofstream(node_file_) << to_json(node).dump();
  }

  void TearDown() override {
    for (const char* log : {"", ".journal-0", ".journal-1"}) std::filesystem::remove(pool_ + log);
  }

  /// Makes a run that finds the calibration of `calibrate_by_default`.
  Finished run_here(const std::string& matrix, const Words& more) const {
    return run_it(matrix, more, [&] { setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1); });
  }
  Finished run_auto(const Words& more) const {
    return run_here("grid:50", joined({"--cores=auto", "--durability=process", "--overwrite"}, more));
  }

  std::string node_file_ = folder_.file("node.json");
};

TEST_F(AutoCoresTest, TheSummaryHoldsWhatWasPlannedAndTheTableShowsIt) {
  calibrate();
  const Finished ran = expect_exit(0, run_auto({"--node=" + node_file_, "--iterations=50"}));
  const Json account = summary();
  EXPECT_EQ(account["node_file"], node_file_);
  EXPECT_GT(account["planned_total_s"], 0);
  EXPECT_LE(account["planned_low_s"], account["planned_total_s"]);
  EXPECT_GE(account["planned_high_s"], account["planned_total_s"]);
  EXPECT_GE(account["planned_producer_idle_s"], 0);
  EXPECT_GE(account["planned_analyzer_idle_s"], 0);
  expect_has(ran.err, {"--cores auto: ", node_file_});
  expect_has(ran.out, {"planned"});
}

TEST_F(AutoCoresTest, WhatTheUserNamesIsNotChosen) {
  calibrate();
  expect_exit(0, run_auto({"--node=" + node_file_, "--iterations=20", "--elastic=off", "--reduce=transfer"}));
  expect_values(summary(), {{"reduce", "transfer"}, {"elastic", false}});
}

TEST_F(AutoCoresTest, WithoutACalibrationTheTopologyChoosesAndOneLineSaysSo) {
  const Finished ran = expect_exit(0, run_auto({"--iterations=20"}));
  EXPECT_TRUE(summary()["planned_total_s"].is_null());
  EXPECT_TRUE(summary()["node_file"].is_null());
  expect_one_line(ran.err, {"topology", "ringside calibrate"});
}

TEST_F(AutoCoresTest, ACalibrationOfAnotherMachineIsRefusedIfItWasNamed) {
  calibrate();
  Node node = read_node(node_file_);
  node.fingerprint->cpu = "another processor";
  std::ofstream(node_file_) << to_json(node).dump();
  expect_refusal(2, run_auto({"--node=" + node_file_}), {node_file_, "another processor"});
  EXPECT_FALSE(std::filesystem::exists(pool_));
}

TEST_F(AutoCoresTest, ACalibrationOfAnotherBuildIsNotUsedFromTheDefaultPlace) {
  calibrate_by_default([](Node& node) { node.fingerprint->build = "an older one\x1b[31m"; });
  const Finished ran = expect_exit(0, run_auto({"--iterations=20"}));
  expect_one_line(ran.err, {"topology", "an older one"});
  EXPECT_EQ(ran.err.find('\x1b'), std::string::npos) << "text of the file steers the terminal";
}

TEST_F(AutoCoresTest, AMatrixThatWasNotMeasuredRunsByTheTopologyAndOneLineSaysSo) {
  calibrate_by_default([](Node&) {});
  const std::string matrix = write_file("a.txt", "0 1\n1 0\n");
  expect_refusal(0, run_here(matrix, {"--cores=auto", "--iterations=3"}), {"topology", "a.txt", "calibrate --matrix"});
}

class CalibratedModesTest : public AutoCoresTest {
 protected:
  /// At the default place, there is a calibration in which reducing during the copy is much faster.
  void SetUp() override { calibrate_by_default(favour_transfer); }

  static void favour_transfer(Node& node) {
    constexpr Measured kSlow{.value = 0.01, .spread = 0.01};
    constexpr Measured kQuick{.value = 1e-5, .spread = 0.01};
    const int analyzer = std::clamp(node.cores / 4, 1, 4);
    node.pairs.clear();
    for (KernelFigures& kernel : node.kernels) {
      const Measured figure = kernel.kernel == KernelKind::kAnalyze ? kSlow : kQuick;
      for (Series::Point& point : kernel.seconds.points) point.figure = figure;
      if (kernel.kernel == KernelKind::kGenerate || kernel.synced) continue;
      if (kernel.kernel == KernelKind::kSweep || kernel.kernel == KernelKind::kCommit) continue;
      node.pairs.push_back({.second = kernel.kernel,
                            .problem = kernel.problem,
                            .tier = kernel.tier,
                            .first_threads = node.cores - analyzer,
                            .second_threads = analyzer,
                            .first_s = kQuick,
                            .second_s = figure});
    }
    constexpr Measured kCost{.value = 1e-6, .spread = 0.01};
    node.costs = {.hand_off_s = kCost, .wake_up_s = kCost, .loan_s = kCost, .barrier_s = kCost};
  }

  Finished run_calibrated(const Words& more) const {
    return expect_exit(0, run_here("grid:50", joined({"--iterations=20", "--durability=process"}, more)));
  }
};

TEST_F(CalibratedModesTest, WithoutCoresTheModesAreThoseOfTheCalibration) {
  const Finished ran = run_calibrated({});
  EXPECT_EQ(summary()["reduce"], "transfer");
  EXPECT_GT(summary()["planned_total_s"], 0);
  expect_one_line(ran.err, {"calibrated: ", "--reduce transfer", "node.json"});
}

TEST_F(CalibratedModesTest, WhatTheUserNamesStaysAndOtherCoresThanTheMeasuredOnesAreNotPlanned) {
  for (const auto& [option, is_planned] :
       {std::pair{"--cores=topology", false}, {"--reduce=slot", true}, {"--analyzer-cores=0", false}}) {
    SCOPED_TRACE(option);
    run_calibrated({option, "--overwrite"});
    EXPECT_EQ(summary()["reduce"], "slot");
    EXPECT_EQ(!summary()["planned_total_s"].is_null(), is_planned);
    if (is_planned) {
      EXPECT_GT(summary()["planned_total_s"], 0);
    }
    EXPECT_TRUE(is_planned || summary()["elastic"] == false);
  }
}

TEST_F(CalibratedModesTest, WhatWasNotMeasuredChangesNothing) {
  EXPECT_EQ(expect_exit(0, run_here("grid:51", {"--iterations=20", "--durability=process"})).err, "");
  EXPECT_EQ(summary()["reduce"], "slot");
}

TEST_F(AutoCoresTest, ARunThatAdaptsChangesNoBitAndSaysThatItDid) {
  calibrate();
  scale_seconds(1e-3);  // no machine is that fast
  const Finished ran =
      expect_exit(0, run_auto({"--node=" + node_file_, "--adapt", "--iterations=400", "--slots=512", "--elastic=off"}));
  EXPECT_EQ(summary()["adapted"], true) << ran.out;
  expect_has(ran.out, {"adapted"});
  // The ring has steps of both modes; replay recomputes their reductions and compares them bit by bit.
  expect_done({"replay", pool_});
}

TEST_F(AutoCoresTest, TheJournalKeepsThePlanForFollowers) {
  calibrate();
  ASSERT_EQ(run_auto({"--node=" + node_file_, "--iterations=20"}).exit_code, 0);
  expect_has(run("ringside", {"tail", "--pool=" + pool_}).out, {"planned: "});
}

TEST_F(AutoCoresTest, WrongCoresAndMatricesAreErrorsOfTheirOwn) {
  const Finished cores = expect_exit(3, run_auto({"--producer-cores=9999"}));
  expect_one_line(cores.err, {"--producer-cores"});
  expect_refusal(2, run("ringside", run_arguments("grid:x", {"--cores=auto"})), {"grid:x"});
  expect_refusal(2, run_auto({"--adapt", "--reduce=slot"}), {"--adapt", "--reduce"});
}

TEST_F(AutoCoresTest, OptionsThatNeedAPlanAreRefusedWithoutOne) {
  for (const std::string& option : {std::string("--adapt"), "--node=" + node_file_}) {
    expect_refusal(2, run("ringside", run_arguments("grid:10", {option})), {"--cores auto"});
  }
  expect_refusal(2, run("ringside", run_arguments("grid:10", {"--cores=auto", "--mode=dram"})), {"--mode dram"});
}

}  // namespace
}  // namespace ringside
