// SPDX-License-Identifier: BSD-3-Clause
// The results of both versions of the stencil over two memories are bit-equal to those of the serial loop.
#include "node/workloads/split_stencil.hpp"

#include <gtest/gtest.h>

#include "node/streams/tier_memory.hpp"
#include "tests/reference/serial_stencil.hpp"
#include "tests/unit/allowed_cpus.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

StencilSetting setting_of(std::uint64_t rows, std::uint64_t columns, std::uint64_t lower_rows, std::size_t upper_cpus,
                          std::size_t lower_cpus) {
  StencilSetting setting;
  setting.rows = rows;
  setting.columns = columns;
  setting.lower_rows = lower_rows;
  setting.upper_cpus = some_cpus(upper_cpus);
  setting.lower_cpus = some_cpus(lower_cpus);
  setting.lower_tier = dram_tier();
  return setting;
}

std::vector<double> serial_result(const StencilSetting& setting) {
  std::vector<double> start;
  for (std::uint64_t i = 0; i < setting.rows; ++i) {
    for (std::uint64_t j = 0; j < setting.columns; ++j) start.push_back(stencil_start(i, j));
  }
  return testing::serial_stencil(start, setting.rows, setting.columns, setting.sweeps);
}

TEST(SplitStencil, BothVersionsEqualTheSerialLoopForEveryBorder) {
  const testing::TemporaryFolder folder;
  StencilSetting setting = setting_of(11, 37, 1, 2, 1);
  setting.lower_tier = folder_tier(folder.path(), "--memory");
  setting.sweeps = 5;
  const std::vector<double> expected = serial_result(setting);
  for (const StencilVersion version : {StencilVersion::kAcrossBorder, StencilVersion::kGhostRows}) {
    setting.version = version;
    for (setting.lower_rows = 1; setting.lower_rows < setting.rows; ++setting.lower_rows) {
      EXPECT_EQ(run_stencil(setting, true).values, expected)
          << "version " << static_cast<int>(version) << ", " << setting.lower_rows << " lower rows";
    }
  }
}

TEST(SplitStencil, MoreThreadsThanRowsGiveTheSameBits) {
  StencilSetting setting = setting_of(6, 9, 3, 3, 4);
  setting.sweeps = 3;
  for (const StencilVersion version : {StencilVersion::kAcrossBorder, StencilVersion::kGhostRows}) {
    setting.version = version;
    EXPECT_EQ(run_stencil(setting, true).values, serial_result(setting));
  }
}

TEST(SplitStencil, ASweepTakesAtLeastAsLongAsItsSlowestThread) {
  const StencilResult result = run_stencil(setting_of(64, 64, 20, 1, 1));
  ASSERT_EQ(result.sweeps.size(), 10U);
  ASSERT_EQ(result.thread_s.size(), 2U);
  for (std::size_t s = 0; s < result.sweeps.size(); ++s) {
    EXPECT_GE(result.sweeps[s].total_s, result.thread_s[0][s]);
    EXPECT_EQ(result.sweeps[s].lower_s, result.thread_s[1][s]);
  }
}

}  // namespace
}  // namespace ringside
