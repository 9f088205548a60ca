// SPDX-License-Identifier: BSD-3-Clause
// The median and the spread of repeated measurements, and the CPUs to which measuring threads are bound.
#include "node/streams/repeats.hpp"

#include <gtest/gtest.h>

#include "node/streams/cores.hpp"
#include "tests/unit/failure_line.hpp"

namespace ringside {
namespace {

TEST(Repeats, TheMedianOfAnEvenNumberLiesHalfwayBetweenTheTwoInTheMiddle) {
  EXPECT_DOUBLE_EQ(median_of({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(median_of({7}), 7);
}

TEST(Repeats, ThePercentilesAreInterpolated) {
  EXPECT_DOUBLE_EQ(percentile_of({0, 10, 20, 30, 40}, 0.1), 4);
  EXPECT_DOUBLE_EQ(percentile_of({0, 10, 20, 30, 40}, 1), 40);
}

TEST(Repeats, TheSpreadIsHalfTheDistanceFromThe10thToThe90thPercentileOverTheMedian) {
  const Measured figure = measured({0, 10, 20, 30, 40});
  EXPECT_DOUBLE_EQ(figure.value, 20);
  EXPECT_DOUBLE_EQ(figure.spread, (36.0 - 4.0) / 2 / 20);
}

TEST(Repeats, EqualSamplesHaveNoSpread) {
  EXPECT_DOUBLE_EQ(measured({3, 3, 3}).spread, 0);
}

TEST(Cores, EachCoreIsTakenOnceBeforeItsSecondHardwareThread) {
  Machine machine;
  machine.threads = {{.cpu = 0, .core = 0}, {.cpu = 1, .core = 0}, {.cpu = 2, .core = 1}, {.cpu = 3, .core = 1}};
  EXPECT_EQ(cpus_in_order(machine), (std::vector<int>{0, 2, 1, 3}));
}

TEST(Cores, OnlyAllowedCpusOfTheNodeAreTaken) {
  Machine machine;
  machine.threads = {{.cpu = 0, .core = 0, .numa_node = 0},
                     {.cpu = 1, .core = 1, .numa_node = 1},
                     {.cpu = 2, .core = 2, .numa_node = 1, .allowed = false}};
  EXPECT_EQ(cpus_in_order(machine, 1), std::vector<int>{1});
}

TEST(Cores, MoreThreadsThanProcessorsAreRefusedWithExitCode3) {
  EXPECT_EQ(failure_line(
                [] {
                  (void)cpus_for({4, 5}, 3, "--threads");
                },
                ExitCode::kSystem),
            "--threads: found 3 thread(s), but this process may use 2 processor(s); expected 1 to 2");
}

TEST(Cores, TheUsualThreadCountsEndWithAllProcessors) {
  EXPECT_EQ(usual_thread_counts(16), (std::vector<int>{1, 2, 3, 4, 6, 8, 12, 16}));
  EXPECT_EQ(usual_thread_counts(1), std::vector<int>{1});
  EXPECT_EQ(usual_thread_counts(5), (std::vector<int>{1, 2, 3, 4, 5}));
}

}  // namespace
}  // namespace ringside
