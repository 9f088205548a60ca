// SPDX-License-Identifier: BSD-3-Clause
#include "node/model/node_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/node/model/testing_node.hpp"

namespace ringside {
namespace {

using testing::four_cores;
using testing::grid_of_100;

class NodeModelTest : public ::testing::Test {
 protected:
  NodeModelTest() {
    request_.problem = grid_of_100();
    request_.tier = "/dev/shm";
  }

  std::string refusal() const {
    return failure_line([&] { model_of(node_, request_); });
  }

  void without(KernelKind kind) {
    std::erase_if(node_.kernels, [kind](const KernelFigures& figures) { return figures.kernel == kind; });
  }

  static std::string only_remark(const NodeModel& model) {
    EXPECT_EQ(model.remarks.size(), 1u);
    return model.remarks.empty() ? "" : model.remarks[0];
  }

  Node node_ = four_cores();
  ModelRequest request_;
};

TEST_F(NodeModelTest, MeasuredKernelsAreTakenAsTheyAre) {
  const NodeModel model = model_of(node_, request_);
  EXPECT_DOUBLE_EQ(kernel_time(model, KernelKind::kGenerate, 2).alone_s, 50e-6);
  EXPECT_DOUBLE_EQ(kernel_time(model, KernelKind::kTransfer, 1).alone_s, 10e-6);
  EXPECT_TRUE(model.remarks.empty());
}

TEST_F(NodeModelTest, APageCacheAndTmpfsUseTheChannelsOfDram) {
  EXPECT_EQ(model_of(node_, request_).capacity_bytes_s.size(), 1u);
}

TEST_F(NodeModelTest, AnotherProblemIsScaledAndSaidToBe) {
  request_.problem.matrix = "";
  request_.problem.rows *= 3;
  request_.problem.nonzeros *= 3;
  const NodeModel model = model_of(node_, request_);
  EXPECT_NEAR(kernel_time(model, KernelKind::kGenerate, 1).alone_s, 300e-6, 1e-9);
  EXPECT_NEAR(kernel_time(model, KernelKind::kAnalyze, 1).alone_s, 36e-6, 1e-9);
  expect_has(only_remark(model), {"grid:100"});
}

TEST_F(NodeModelTest, CopiesOfAnotherProblemAreScaledAndSaidToBe) {
  for (KernelFigures& figures : node_.kernels) {
    if (figures.kernel == KernelKind::kSweep) figures.problem.rows *= 2;
  }
  expect_has(only_remark(model_of(node_, request_)), {"copies and reductions"});
}

TEST_F(NodeModelTest, CopiesMoveAllVectorsOfAStepAndReductionsOnlyOne) {
  const auto take_three_vectors = [](ProblemSize& problem) {
    problem.solver = "cg";
    problem.vectors = 3;
    problem.vector_bytes_per_row = 88;
  };
  take_three_vectors(request_.problem);
  for (KernelFigures& figures : node_.kernels) {
    take_three_vectors(figures.problem);
    for (Series::Point& point : figures.seconds.points) point.figure.value *= 1000;  // the channels do not limit it
  }
  const NodeModel model = model_of(node_, request_);
  EXPECT_TRUE(model.remarks.empty());
  EXPECT_DOUBLE_EQ(model.find(KernelKind::kTransfer)->bytes[0], 48e4);
  EXPECT_DOUBLE_EQ(model.find(KernelKind::kTransferReduced)->bytes[0], 56e4);
  EXPECT_DOUBLE_EQ(model.find(KernelKind::kAnalyze)->bytes[0], 16e4);
  EXPECT_DOUBLE_EQ(model.find(KernelKind::kSweep)->bytes[0], 8e4);
  EXPECT_DOUBLE_EQ(model.find(KernelKind::kGenerate)->bytes[0], (88 + 16) * 1e4 + 12 * 78'804.0);
}

TEST_F(NodeModelTest, CopiesOfOneVectorAreScaledToThreeAndSaidToBe) {
  request_.problem.solver = "cg";
  request_.problem.vectors = 3;
  for (KernelFigures& figures : node_.kernels) {
    if (figures.kernel == KernelKind::kGenerate) figures.problem = request_.problem;
  }
  const NodeModel model = model_of(node_, request_);
  EXPECT_NEAR(kernel_time(model, KernelKind::kTransfer, 1).alone_s, 30e-6, 1e-12);
  EXPECT_NEAR(kernel_time(model, KernelKind::kTransferReduced, 1).alone_s, 35e-6, 1e-12);
  EXPECT_NEAR(kernel_time(model, KernelKind::kAnalyze, 1).alone_s, 12e-6, 1e-12);
  expect_has(only_remark(model), {"copies and reductions", "multiplied by 3"});
}

TEST_F(NodeModelTest, NoKernelMovesMoreBytesThanTheChannelsCan) {
  const NodeModel model = model_of(node_, request_);
  for (const auto& kernel : model.kernels) {
    if (!kernel) continue;
    for (const Series::Point& point : kernel->seconds.points) {
      EXPECT_LE(kernel->bytes[0], model.capacity_bytes_s[0] * point.figure.value * 1.0001);
    }
  }
}

TEST_F(NodeModelTest, AMeasuredPairIsTheAnswerForItsSplit) {
  node_.pairs = {testing::pair_of(2, {.value = 60e-6}, 2, {.value = 8e-6})};
  const NodeModel model = model_of(node_, request_);
  const Together both = together(model, KernelKind::kGenerate, 2, KernelKind::kTransfer, 2);
  EXPECT_DOUBLE_EQ(both.first_s, 60e-6);
  EXPECT_DOUBLE_EQ(both.second_s, 8e-6);
}

TEST_F(NodeModelTest, ThePairsOfOneSplitExplainTheOthers) {
  // The pairs are computed with the formula itself, for kernels that move a known number of bytes.
  const std::vector<double> capacity = {30e9};
  const auto made = [&](int first, int second) {
    const KernelTime generate{.threads = first, .alone_s = 100e-6 / first, .bytes = {0.6e6}};
    const KernelTime transfer{.threads = second, .alone_s = 10e-6 / second, .bytes = {0.07e6}};
    const Together both = together(generate, transfer, capacity, 3);
    return testing::pair_of(first, {.value = both.first_s}, second, {.value = both.second_s});
  };
  node_.pairs = {made(2, 2), made(1, 3), made(3, 1)};
  const NodeModel model = model_of(node_, request_);
  ASSERT_TRUE(model.coupling_error);
  EXPECT_LT(*model.coupling_error, 0.03);
}

TEST_F(NodeModelTest, WithoutFiguresOfSyncedCopiesThoseWithoutSyncsAreTakenAndThatIsSaid) {
  request_.synced = true;
  const NodeModel model = model_of(node_, request_);
  EXPECT_DOUBLE_EQ(kernel_time(model, KernelKind::kTransfer, 1).alone_s, 10e-6);
  EXPECT_NE(std::count_if(model.remarks.begin(), model.remarks.end(),
                          [](const std::string& remark) { return remark.find("without syncs") != std::string::npos; }),
            0);
}

TEST_F(NodeModelTest, FiguresOfAnotherStorageFormatAreNotThoseOfThisProblem) {
  for (KernelFigures& kernel : node_.kernels) kernel.problem.format = "bands";
  request_.problem.format = "csr";
  EXPECT_FALSE(model_of(node_, request_).remarks.empty());
}

TEST_F(NodeModelTest, AMatrixFileIsTheSameUnderAnotherSpellingAndAnotherOneAfterAChange) {
  const MatrixFile file{.path = "/x/a.mtx", .size_bytes = 5, .mtime_ns = 7, .inode = 3, .ctime_ns = 9};
  for (KernelFigures& kernel : node_.kernels) {
    kernel.problem.matrix = "a.mtx";
    kernel.problem.file = file;
  }
  request_.problem.matrix = "../x/a.mtx";
  request_.problem.file = file;
  EXPECT_TRUE(model_of(node_, request_).remarks.empty());
  request_.problem.file->ctime_ns = 8;
  const NodeModel changed = model_of(node_, request_);
  expect_has(only_remark(changed), {"no figures for this problem: the figures of a.mtx"});
  EXPECT_GE(changed.find(KernelKind::kGenerate)->spread, 0.10);
}

TEST_F(NodeModelTest, WithoutAFileOnEitherSideTheSpellingCounts) {
  for (KernelFigures& kernel : node_.kernels) kernel.problem.matrix = "a.mtx";
  request_.problem.matrix = "a.mtx";
  request_.problem.file = MatrixFile{.path = "/x/a.mtx", .size_bytes = 5, .mtime_ns = 7};
  EXPECT_TRUE(model_of(node_, request_).remarks.empty());
  request_.problem.matrix = "./a.mtx";
  EXPECT_FALSE(model_of(node_, request_).remarks.empty());
}

TEST_F(NodeModelTest, AMemoryWithoutFiguresIsRefusedByName) {
  request_.tier = "/pmem";
  expect_has(refusal(), {"/pmem"});
}

TEST_F(NodeModelTest, ANodeWithoutTheKernelOfTheSolverIsRefused) {
  request_.problem.solver = "jacobi";
  expect_has(refusal(), {"ringside calibrate --solver jacobi"});
}

TEST_F(NodeModelTest, OnlyDramAndTheMemoryOfTheSlotsNeedARate) {
  node_.tiers.emplace_back();
  node_.tiers.back().name = "/pmem";
  node_.tiers.back().kind = TierKind::kDax;
  const double alone_s = kernel_time(model_of(node_, request_), KernelKind::kTransfer, 2).alone_s;
  EXPECT_DOUBLE_EQ(alone_s, 5e-6);
  const Together both = together(model_of(node_, request_), KernelKind::kGenerate, 2, KernelKind::kTransfer, 2);
  EXPECT_GE(both.first_s, 50e-6);
  EXPECT_GE(both.second_s, alone_s);
  request_.tier = "/pmem";
  expect_has(refusal(), {"STREAM kernel for the tier '/pmem'"});
  request_.tier = "/dev/shm";
  node_.streams.clear();
  expect_has(refusal(), {"STREAM kernel for the tier 'dram'"});
}

TEST_F(NodeModelTest, WithoutSweepsHalfOfAnalyzeIsTakenWithARemark) {
  without(KernelKind::kSweep);
  const NodeModel model = model_of(node_, request_);
  EXPECT_DOUBLE_EQ(kernel_time(model, KernelKind::kSweep, 1).alone_s, 6e-6);
  EXPECT_DOUBLE_EQ(kernel_time(model, KernelKind::kAnalyze, 1).alone_s, 12e-6);
  EXPECT_EQ(only_remark(model), "sweep was not measured in /dev/shm: half of analyze's time is used");
  without(KernelKind::kAnalyze);
  expect_has(refusal(), {"found no seconds of the kernel 'sweep'"});
}

TEST_F(NodeModelTest, WithoutAnalyzeASweepIsTakenWithARemark) {
  without(KernelKind::kAnalyze);
  const NodeModel model = model_of(node_, request_);
  EXPECT_DOUBLE_EQ(kernel_time(model, KernelKind::kAnalyze, 1).alone_s, 6e-6);
  EXPECT_EQ(only_remark(model), "analyze was not measured in /dev/shm: a sweep's time is used, which is shorter");
}

}  // namespace
}  // namespace ringside
