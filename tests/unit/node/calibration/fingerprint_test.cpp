// SPDX-License-Identifier: BSD-3-Clause
#include "node/calibration/fingerprint.hpp"

#include <gtest/gtest.h>

#include <string>

#include "common/kernels/isa.hpp"
#include "common/platform/version.hpp"
#include "node/calibration/problem_phase.hpp"
#include "tests/unit/expect_text.hpp"

namespace ringside {
namespace {

/// Cores with two hardware threads each, numbered as on most servers: the second threads follow all first ones.
Machine machine_of(int cores) {
  Machine machine;
  machine.model = "a processor";
  for (int cpu = 0; cpu < 2 * cores; ++cpu) machine.threads.push_back({.cpu = cpu, .core = cpu % cores});
  return machine;
}

TEST(Fingerprint, ARunUsesOneHardwareThreadOfEachCore) {
  EXPECT_EQ(usable_cores(machine_of(4)), (std::vector<int>{0, 1, 2, 3}));
}

TEST(Fingerprint, OneCoreIsNamedOnce) {
  Machine machine = machine_of(1);
  machine.threads.pop_back();
  EXPECT_EQ(usable_cores(machine), (std::vector<int>{0}));
}

TEST(Fingerprint, TheMachineIsDescribed) {
  const Fingerprint found = fingerprint(machine_of(4));
  EXPECT_EQ(found.cpu, "a processor");
  EXPECT_EQ(found.cores, 4);
  EXPECT_EQ(found.cpus, "0-3");
  EXPECT_GT(found.memory_bytes, 0u);
  EXPECT_FALSE(found.kernel.empty());
}

TEST(Fingerprint, ItStaysTheSame) {
  EXPECT_EQ(fingerprint(machine_of(4)), fingerprint(machine_of(4)));
}

TEST(Fingerprint, OtherCoresGiveAnotherFingerprint) {
  EXPECT_FALSE(fingerprint(machine_of(4)) == fingerprint(machine_of(5)));
}

TEST(Fingerprint, TheBuildNamesTheVersionTheInstructionSetTheKernelsAndTheMeasuringMethod) {
  const std::string build = fingerprint(machine_of(1)).build;
  EXPECT_EQ(build.rfind(version(), 0), 0u) << build;
  expect_has(build, {std::string(to_string(selected_isa())), std::string(kernels_hash()), " measuring-"});
  EXPECT_EQ(std::string(kernels_hash()).find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(std::string(kernels_hash()).size(), 16u);
}

TEST(Splits, TwoCoresHaveOne) {
  EXPECT_EQ(splits_of(2), (std::vector<std::pair<int, int>>{{1, 1}}));
}

TEST(Splits, OneCoreHasNone) {
  EXPECT_TRUE(splits_of(1).empty());
}

TEST(Splits, TheUsualSplitOfManyCoresComesFirstAndEachUsesAllCores) {
  const auto splits = splits_of(16);
  EXPECT_EQ(splits.front(), (std::pair<int, int>{12, 4}));
  for (const auto& [producer, analyzer] : splits) {
    EXPECT_GE(producer, 1);
    EXPECT_GE(analyzer, 1);
    EXPECT_EQ(producer + analyzer, 16);
  }
}

}  // namespace
}  // namespace ringside
