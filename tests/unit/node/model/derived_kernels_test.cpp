// SPDX-License-Identifier: BSD-3-Clause
// A node whose second memory has its own channels. The expected times are computed with the formulas of
// docs/inside/model.md.
#include "node/model/derived_kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "node/model/node_model.hpp"

namespace ringside {
namespace {

constexpr double kExponent = 3;  // the exponent of series with fewer than four points
constexpr double kDramCapacity = 60e9;
constexpr double kFarCapacity = 24e9;
constexpr double kKernelRows = 1e6;

class DerivedKernelsTest : public ::testing::Test {
 protected:
  DerivedKernelsTest() {
    node_.name = "two groups of channels";
    node_.cores = 4;
    node_.tiers = {Tier{}, Tier{}};
    node_.tiers[0].name = "dram";
    node_.tiers[1].name = "far";
    node_.tiers[1].kind = TierKind::kDax;
    node_.streams = {{"read", "dram", {{{1, {15}}, {4, {60}}}}},
                     {"copy", "dram", {{{1, {10}}, {4, {30}}}}},
                     {"copy", "far", {{{1, {4}}, {4, {16}}}}}};
    for (const KernelKind kernel : {KernelKind::kGenerate, KernelKind::kSweep}) {
      node_.kernels.push_back(
          {.kernel = kernel, .problem = problem(), .tier = "dram", .seconds = {{{1, {1e-3}}}}, .moved_bytes = {}});
    }
  }

  static ProblemSize problem() {
    ProblemSize size;
    size.rows = static_cast<std::uint64_t>(kKernelRows);
    size.nonzeros = 5 * size.rows;
    return size;
  }

  NodeModel model() const { return model_of(node_, {.problem = problem(), .tier = "far"}); }

  static double cube(double x) { return x * x * x; }

  /// The time in a thread's core per element of a copy with this rate, without the time in memory.
  static double core_of_copy(double gb_s, double capacity) {
    return std::cbrt(cube(16 / (gb_s * 1e9)) - cube(24 / capacity));
  }
  /// The additional seconds of one thread for one access in the far memory, compared with DRAM.
  static double far_access() { return (core_of_copy(4, kFarCapacity) - core_of_copy(10, kDramCapacity)) / 2; }

  Node node_;
};

TEST_F(DerivedKernelsTest, EachMemoryHasItsOwnCapacity) {
  const Channels channels = channels_of(node_);
  EXPECT_EQ(channels.capacity_bytes_s, (std::vector<double>{kDramCapacity, kFarCapacity}));
  EXPECT_EQ(group_of(channels, node_, "far"), 1u);
  EXPECT_DOUBLE_EQ(model().exponent, kExponent);
}

TEST_F(DerivedKernelsTest, AnAccessIsFreedOfTheMemoryOfItsOwnTier) {
  const Series access = access_seconds(node_, channels_of(node_), "far", kExponent).value();
  EXPECT_NEAR(access.points.front().figure.value, far_access(), 1e-15);
}

TEST_F(DerivedKernelsTest, ATransferMovesAThirdOfItsBytesInDramAndTheRestInTheTier) {
  const KernelTime transfer = kernel_time(model(), KernelKind::kTransfer, 1);
  EXPECT_EQ(transfer.bytes, (std::vector<double>{8 * kKernelRows, 16 * kKernelRows}));
  const double core = (core_of_copy(10, kDramCapacity) + far_access()) * kKernelRows;
  EXPECT_NEAR(transfer.alone_s,
              std::cbrt(cube(core) + cube(8 * kKernelRows / kDramCapacity) + cube(16 * kKernelRows / kFarCapacity)),
              1e-12);
}

TEST_F(DerivedKernelsTest, ASweepMovesAllOfItsBytesInTheTier) {
  const KernelTime sweep = kernel_time(model(), KernelKind::kSweep, 1);
  EXPECT_EQ(sweep.bytes, (std::vector<double>{0, 8 * kKernelRows}));
  const double core = std::cbrt(cube(1e-3) - cube(8 * kKernelRows / kDramCapacity)) + far_access() * kKernelRows;
  EXPECT_NEAR(sweep.alone_s, std::cbrt(cube(core) + cube(8 * kKernelRows / kFarCapacity)), 1e-12);
}

TEST_F(DerivedKernelsTest, ATierThatSharesTheChannelsOfDramMovesEverythingThere) {
  node_.tiers[1].shares_with = "dram";
  const KernelTime transfer = kernel_time(model(), KernelKind::kTransfer, 1);
  EXPECT_EQ(transfer.bytes, (std::vector<double>{24 * kKernelRows}));
  const double access = (core_of_copy(4, kDramCapacity) - core_of_copy(10, kDramCapacity)) / 2;
  const double core = (core_of_copy(10, kDramCapacity) + access) * kKernelRows;
  EXPECT_NEAR(transfer.alone_s, std::cbrt(cube(core) + cube(24 * kKernelRows / kDramCapacity)), 1e-12);
}

}  // namespace
}  // namespace ringside
