// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <vector>

#include "node/benches/clock_bench.hpp"
#include "node/benches/costs_bench.hpp"
#include "node/benches/disk_bench.hpp"
#include "tests/unit/allowed_cpus.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/failure_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ringside {
namespace {

void expect_samples(const std::vector<double>& samples, std::size_t at_least) {
  EXPECT_GE(samples.size(), at_least);
  for (const double sample : samples) EXPECT_TRUE(std::isfinite(sample) && sample >= 0) << sample;
}

TEST(Benches, CoordinationIsMeasured) {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "needs two cores";
  CostSamples samples;
  measure_hand_off(cpus.front(), cpus.back(), samples);
  measure_wake_up(cpus.front(), cpus.back(), samples);
  measure_loan(cpus.front(), cpus.back(), samples);
  measure_barrier(cpus, samples);
  for (const auto* of : {&samples.hand_off_s, &samples.wake_up_s, &samples.barrier_s}) expect_samples(*of, 3);
  expect_samples(samples.loan_s, 0);  // on a busy machine, a guest may be too late for a loan
}

TEST(Benches, TheClockOfBusyCoresIsMeasured) {
  std::vector<double> samples;
  measure_clock(allowed_cpus(), samples);
  expect_samples(samples, 3);
}

TEST(Benches, TheDiskIsMeasuredAndNothingStays) {
  const testing::TemporaryFolder folder;
  DiskSamples samples;
  measure_disk(folder.path(), 10'000, samples);
  expect_samples(samples.sync_s, 3);
  expect_samples(samples.sync_gb_s, 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Benches, AFolderWhereNoFileCanBeMadeIsNamed) {
  const testing::TemporaryFolder folder;
  DiskSamples samples;
  expect_has(failure_line([&] { measure_disk(folder.file("missing"), 4096, samples); }, ExitCode::kSystem),
             {"missing"});
}

}  // namespace
}  // namespace ringside
