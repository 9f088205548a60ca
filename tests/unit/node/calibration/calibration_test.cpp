// SPDX-License-Identifier: BSD-3-Clause
#include "node/calibration/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "node/benches/stream_bench.hpp"
#include "node/calibration/fingerprint.hpp"
#include "node/calibration/machine_phase.hpp"
#include "node/file/node_file.hpp"
#include "node/streams/tier_memory.hpp"
#include "tests/unit/allowed_cpus.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

class CalibrationTest : public ::testing::Test {
 protected:
  CalibrationTest() {
    options_.problems.emplace_back().matrix = "grid:20";
    options_.folders = {folder_.path()};
    options_.budget_s = 0.1;
    options_.stream_elements = 4096;
  }

  /// The line with which the calibration is refused.
  std::string refusal(ExitCode code = ExitCode::kInterrupted) const {
    return failure_line([&] { (void)calibrate(options_); }, code);
  }

  static bool has_remark(const Node& node, const std::string& part) {
    return std::any_of(node.remarks.begin(), node.remarks.end(),
                       [&](const std::string& remark) { return remark.find(part) != std::string::npos; });
  }

  testing::TemporaryFolder folder_;
  CalibrationOptions options_;
};

TEST_F(CalibrationTest, ANodeHasItsTiersAndItsFingerprint) {
  const Node node = calibrate(options_);
  ASSERT_GE(node.tiers.size(), 2u);
  EXPECT_EQ(node.tiers.front().kind, TierKind::kDram);
  EXPECT_EQ(node.tiers.back().path, std::filesystem::canonical(folder_.path()).string());
  ASSERT_TRUE(node.fingerprint.has_value());
  EXPECT_EQ(node.fingerprint->cores, node.cores);
  EXPECT_EQ(node.origin, "ringside calibrate");
  EXPECT_FALSE(node.measured_at.empty());
}

TEST_F(CalibrationTest, WithTooLittleTimeTheMostImportantFiguresAreThereAndARemarkNamesTheRest) {
  const Node node = calibrate(options_);
  const auto measured = [&](KernelKind kind) {
    return std::any_of(node.kernels.begin(), node.kernels.end(), [&](const auto& k) { return k.kernel == kind; });
  };
  EXPECT_TRUE(measured(KernelKind::kGenerate));
  EXPECT_TRUE(measured(KernelKind::kTransfer));
  EXPECT_TRUE(has_remark(node, "did not fit"));
}

TEST_F(CalibrationTest, ARemarkNamesKernelsThatHaveOneThreadCountAlone) {
  options_.threads = {1, 2};
  if (usable_cores(read_machine()).size() < 2) GTEST_SKIP() << "needs two cores";
  options_.budget_s = 1e-6;  // enough for the first measurement only
  EXPECT_TRUE(has_remark(calibrate(options_), "was measured only with 1 thread"));
}

TEST_F(CalibrationTest, SyncedKernelsAloneComeBeforeAnyPair) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "needs two cores";
  std::atomic<bool> stop{false};
  std::vector<std::string> order;
  options_.budget_s = 10;
  options_.stop = &stop;
  options_.announce = [&](const CalibrationProgress& progress) {
    order.push_back(progress.what);
    if (progress.what.find("generate beside") != std::string::npos) stop = true;
  };
  EXPECT_NE(refusal(), "");
  ASSERT_FALSE(order.empty());
  expect_has(order.back(), {"generate beside"});
  const auto is_synced = [](const std::string& what) { return what.find(", synced, with ") != std::string::npos; };
  EXPECT_TRUE(std::any_of(order.begin(), order.end(), is_synced));
}

TEST_F(CalibrationTest, EachTierHasItsFirstLoopBeforeAnyHasItsSecond) {
  std::atomic<bool> stop{false};
  std::set<std::string> reads;  // the loop `read` of each tier that was measured
  options_.stop = &stop;
  options_.budget_s = 10;
  options_.announce = [&](const CalibrationProgress& progress) {
    if (progress.what.starts_with("read of ")) reads.insert(progress.what.substr(0, progress.what.find(" with ")));
    if (progress.what.starts_with("copy of ")) stop = true;
  };
  EXPECT_NE(refusal(), "");
  EXPECT_TRUE(reads.contains("read of " + std::filesystem::canonical(folder_.path()).string()));
  EXPECT_GE(reads.size(), 2u);
}

TEST_F(CalibrationTest, ARemarkNamesEachTierWithoutStream) {
  options_.budget_s = 1e-6;  // enough for the first measurement only, that of DRAM
  const Node node = calibrate(options_);
  EXPECT_TRUE(has_remark(node, node.tiers.back().name + ": STREAM was not measured: the time was too short"));
}

TEST_F(CalibrationTest, AMemoryThatIsSmallerThanTheCachesHasNoStreamAndARemark) {
  Machine machine = read_machine();
  machine.l3_bytes = std::uint64_t{1} << 50;
  machine.l3_caches = 1;
  Node node;
  Tier& tier = node.tiers.emplace_back();
  tier.name = "folder";
  tier.kind = TierKind::kPageCache;
  tier.path = folder_.path();
  MachinePhase(machine, usable_cores(machine), {1}, node.tiers, 0).collect(node);
  EXPECT_TRUE(node.streams.empty());
  ASSERT_EQ(node.remarks.size(), 1u);
  EXPECT_EQ(node.remarks[0], "folder: STREAM was not measured: no room for arrays larger than the caches");
}

TEST_F(CalibrationTest, DramIsMeasuredWithTheArraysThatItHasRoomFor) {
  constexpr std::uint64_t kHugeCache = std::uint64_t{1} << 50;
  EXPECT_GT(stream_elements_for(dram_tier(), kHugeCache), 0u);
  EXPECT_LT(stream_elements_for(dram_tier(), kHugeCache), kHugeCache / sizeof(double));
}

TEST_F(CalibrationTest, NothingStaysInTheFolder) {
  (void)calibrate(options_);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(CalibrationTest, StepsOfThreeVectorsAreMeasuredWithAllTheirBytes) {
  options_.problems.back().solver = "cg";
  options_.problems.back().matrix = folder_.write("a.txt", "0 0 2\n0 1 -1\n1 0 -1\n1 1 2\n1 2 -1\n2 1 -1\n2 2 2\n");
  const Node node = calibrate(options_);
  int copies = 0;
  for (const KernelFigures& figures : node.kernels) {
    EXPECT_EQ(figures.problem.solver, "cg");
    EXPECT_EQ(figures.problem.vectors, 3);
    if (figures.kernel == KernelKind::kAnalyze) {
      EXPECT_EQ(figures.moved_bytes, 3 * 16.0);
    }
    if (figures.kernel != KernelKind::kTransfer) continue;
    EXPECT_EQ(figures.moved_bytes, 3 * 3 * (figures.synced ? 24.0 : 16.0));
    ++copies;
  }
  EXPECT_GT(copies, 0);
  EXPECT_NO_THROW((void)node_text(node));
}

TEST_F(CalibrationTest, AMatrixForWhichTheSolverBreaksDownIsRefused) {
  options_.problems.back().solver = "cg";
  options_.problems.back().matrix = folder_.write("a.txt", "0 0 1\n0 1 -2\n1 0 -2\n1 1 1\n");
  expect_has(refusal(ExitCode::kUsage), {"a.txt: cg broke down: found p.Ap = -2", "not positive definite"});
}

TEST_F(CalibrationTest, AFolderThatIsNamedTwiceIsMeasuredOnce) {
  options_.folders.push_back(folder_.path() + "/.");
  const Node node = calibrate(options_);
  EXPECT_EQ(std::count_if(node.tiers.begin(), node.tiers.end(), [](const Tier& tier) { return !tier.path.empty(); }),
            1);
}

TEST_F(CalibrationTest, ProgressGrows) {
  int announced = 0;
  double before = 0;
  options_.announce = [&](const CalibrationProgress& progress) {
    EXPECT_GE(progress.done, before);
    before = progress.done;
    EXPECT_LE(progress.done, 1);
    EXPECT_FALSE(progress.what.empty());
    ++announced;
  };
  (void)calibrate(options_);
  EXPECT_GT(announced, 3);
}

TEST_F(CalibrationTest, AStopIsObeyed) {
  const std::atomic<bool> stop{true};
  options_.stop = &stop;
  EXPECT_NE(refusal(), "");
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(CalibrationTest, MoreThreadsThanCoresAreRefused) {
  options_.threads = {100'000};
  expect_has(refusal(ExitCode::kSystem), {"100000"});
}

TEST_F(CalibrationTest, AMatrixThatCannotBeReadIsRefused) {
  options_.problems.back().matrix = folder_.file("missing.mtx");
  EXPECT_NE(refusal(ExitCode::kUsage), "");
}

}  // namespace
}  // namespace ringside
