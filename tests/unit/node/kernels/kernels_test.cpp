// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>

#include "node/kernels/pair_bench.hpp"
#include "tests/unit/node/kernels/workbench_fixture.hpp"

namespace ringside {
namespace {

using KernelsTest = WorkbenchTest;

void expect_figures(const std::vector<double>& samples, std::size_t at_least) {
  EXPECT_GE(samples.size(), at_least);
  for (const double sample : samples) EXPECT_TRUE(std::isfinite(sample) && sample >= 0) << sample;
}

TEST_F(KernelsTest, IteratesAreThoseOfTheSolver) {
  Problem twin = small_problem();
  std::vector<double> before(source_.rows());
  std::vector<double> expected(source_.rows());
  twin.solver->start(before.data());
  twin.solver->prepare(before.data(), {});
  for (const bool two_buffers : {false, true, true, false}) {
    source_.iterate(two_buffers);
    twin.solver->iterate(before.data(), expected.data());
    EXPECT_EQ(std::memcmp(source_.hold().x, expected.data(), expected.size() * sizeof(double)), 0);
    source_.let_go();
    before.swap(expected);
  }
}

TEST_F(KernelsTest, AnIterateThatAReaderHoldsIsNotOverwritten) {
  source_.iterate(false);
  const double* const held = source_.hold().x;
  const std::vector<double> copy(held, held + source_.rows());
  for (int iteration = 0; iteration < 5; ++iteration) source_.iterate(false);
  EXPECT_EQ(std::memcmp(held, copy.data(), copy.size() * sizeof(double)), 0);
}

TEST_F(KernelsTest, APoolForMeasuringHasNoName) {
  const RingPool pool = make_nameless_pool(folder_.path(), source_.rows(), true);
  EXPECT_EQ(pool.whereabouts(), Whereabouts::kDeleted);
  EXPECT_TRUE(folder_is_empty());
}

TEST_F(KernelsTest, EveryKernelIsMeasuredWithEachDurability) {
  for (const Durability durability : {Durability::kProcess, Durability::kPower}) {
    RingPool pool = make_nameless_pool(folder_.path(), source_.rows(), durability == Durability::kProcess);
    KernelSamples samples;
    measure_kernels(bench(pool, durability), 1, samples);
    for (const auto* of : {&samples.transfer_reduced_s, &samples.analyze_s, &samples.sweep_s}) expect_figures(*of, 1);
    for (const auto* of : {&samples.transfer_s, &samples.commit_s}) expect_figures(*of, 2);
    expect_figures(samples.generate_s, durability == Durability::kProcess ? 2 : 0);
  }
  EXPECT_TRUE(folder_is_empty());
}

TEST_F(KernelsTest, KernelsAreMeasuredOnAllCores) {
  RingPool pool = make_nameless_pool(folder_.path(), source_.rows(), true);
  KernelSamples samples;
  measure_kernels(bench(pool), static_cast<int>(allowed_cpus().size()), samples);
  expect_figures(samples.generate_s, 3);
}

TEST_F(KernelsTest, PairsAreMeasuredSideBySide) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "needs two cores";
  for (const Durability durability : {Durability::kProcess, Durability::kPower}) {
    RingPool pool = make_nameless_pool(folder_.path(), source_.rows(), durability == Durability::kProcess);
    for (const bool on_the_way : {false, true}) {
      PairSamples samples;
      measure_pair(bench(pool, durability), on_the_way, 1, 1, samples);
      expect_figures(samples.generate_s, 1);
      expect_figures(samples.transfer_s, 3);
      expect_figures(samples.analyze_s, on_the_way ? 0 : 3);
      EXPECT_EQ(samples.analyze_s.empty(), on_the_way);
    }
  }
}

}  // namespace
}  // namespace ringside
