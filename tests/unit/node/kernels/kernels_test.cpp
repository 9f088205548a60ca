// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "common/threads/openmp_team.hpp"
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
  std::vector<double> before(rows());
  std::vector<double> expected(rows());
  twin.solver->start(before.data());
  twin.solver->prepare(before.data(), {});
  for (const bool two_buffers : {false, true, true, false}) {
    source_.iterate(two_buffers);
    twin.solver->iterate(before.data(), expected.data());
    EXPECT_EQ(std::memcmp(source_.hold().payload, expected.data(), expected.size() * sizeof(double)), 0);
    source_.let_go();
    before.swap(expected);
  }
}

TEST_F(KernelsTest, AnIterateThatAReaderHoldsIsNotOverwritten) {
  source_.iterate(false);
  const double* const held = source_.hold().payload;
  const std::vector<double> copy(held, held + rows());
  for (int iteration = 0; iteration < 5; ++iteration) source_.iterate(false);
  EXPECT_EQ(std::memcmp(held, copy.data(), copy.size() * sizeof(double)), 0);
}

TEST_F(KernelsTest, APoolForMeasuringHasNoName) {
  const RingPool pool = make_pool();
  EXPECT_EQ(pool.whereabouts(), Whereabouts::kDeleted);
  EXPECT_TRUE(folder_is_empty());
}

TEST_F(KernelsTest, EveryKernelIsMeasuredWithEachDurability) {
  for (const Durability durability : {Durability::kProcess, Durability::kPower}) {
    RingPool pool = make_pool(durability == Durability::kProcess);
    KernelSamples samples;
    measure_kernels(bench(pool, durability), 1, samples);
    for (const auto* of : {&samples.transfer_reduced_s, &samples.analyze_s, &samples.sweep_s}) expect_figures(*of, 1);
    for (const auto* of : {&samples.transfer_s, &samples.commit_s}) expect_figures(*of, 2);
    expect_figures(samples.generate_s, durability == Durability::kProcess ? 2 : 0);
  }
  EXPECT_TRUE(folder_is_empty());
}

TEST_F(KernelsTest, KernelsAreMeasuredOnAllCores) {
  RingPool pool = make_pool();
  KernelSamples samples;
  measure_kernels(bench(pool), static_cast<int>(allowed_cpus().size()), samples);
  expect_figures(samples.generate_s, 3);
}

TEST_F(KernelsTest, PairsAreMeasuredSideBySide) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "needs two cores";
  for (const Durability durability : {Durability::kProcess, Durability::kPower}) {
    RingPool pool = make_pool(durability == Durability::kProcess);
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

/// The steps of conjugate gradients have the variables x, r and p.
class ThreeVectorsTest : public WorkbenchTest {
 protected:
  ThreeVectorsTest() : WorkbenchTest(linear_system(400, -1)) {}

  /// Conjugate gradients for the matrix that has 2.5 on its diagonal and `beside` next to it.
  static Problem linear_system(int rows, int beside) {
    std::string text;
    for (int row = 0; row < rows; ++row) {
      text += fmt::format("{0} {0} 2.5\n", row);
      if (row > 0) text += fmt::format("{0} {1} {2}\n{1} {0} {2}\n", row, row - 1, beside);
    }
    const testing::TemporaryFolder folder;
    SolveOptions options;
    options.solver = "cg";
    options.matrix = folder.write("a.txt", text);
    return load_problem(options);
  }
};

TEST_F(ThreeVectorsTest, ASlotReceivesAllVariablesOfAStep) {
  RingPool pool = make_pool();
  const Schema schema = problem_.solver->variables();
  ASSERT_EQ(pool.ring().geometry().schema(), schema);
  OpenMpTeam team;
  StepKeeper keeper(pool, *problem_.solver, problem_.description, Durability::kProcess, team);
  source_.iterate(true);
  const auto* const payload = reinterpret_cast<const std::byte*>(source_.hold().payload);
  for (const auto reduce : {StepKeeper::Reduce::kInSlot, StepKeeper::Reduce::kOnTheWay}) {
    StepTimes times;
    ASSERT_TRUE(keeper.keep(payload, reduce, 1, times));
  }
  const auto has_step = [&](std::uint32_t slot) {
    for (std::size_t v = 0; v < schema.size(); ++v) {
      const VariablePlace& place = schema.place(v);
      if (std::memcmp(pool.ring().payload(slot) + place.offset, payload + place.offset, place.bytes) != 0) return false;
    }
    return true;
  };
  int kept = 0;
  for (std::uint32_t slot = 0; slot < kCalibrationSlots; ++slot) kept += has_step(slot);
  EXPECT_EQ(kept, 2);
}

TEST_F(ThreeVectorsTest, KernelsAndPairsAreMeasured) {
  RingPool pool = make_pool();
  KernelSamples kernels;
  measure_kernels(bench(pool), 1, kernels);
  expect_figures(kernels.generate_s, 2);
  expect_figures(kernels.transfer_s, 2);
  expect_figures(kernels.transfer_reduced_s, 1);
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "pairs need two cores";
  PairSamples pairs;
  measure_pair(bench(pool), true, 1, 1, pairs);
  expect_figures(pairs.transfer_s, 3);
  EXPECT_FALSE(source_.has_broken_down());
}

TEST_F(ThreeVectorsTest, AfterABreakdownTheSolverBeginsAgain) {
  const Problem indefinite = linear_system(2, -3);
  IterateSource source(*indefinite.solver);
  std::vector<std::byte> first(indefinite.solver->variables().payload_bytes());
  std::memcpy(first.data(), source.hold().payload, first.size());
  source.let_go();
  source.iterate(true);
  EXPECT_TRUE(source.has_broken_down());
  EXPECT_EQ(source.made(), 1u) << "a reader that waits for an iterate waits for ever";
  EXPECT_EQ(std::memcmp(source.hold().payload, first.data(), first.size()), 0);
}

}  // namespace
}  // namespace ringside
