// SPDX-License-Identifier: BSD-3-Clause
// The baseline does the same work as producer and analyzer together: the same iterates, reduced with the same previous
// iterates.
#include "producer/baseline.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "producer/matrix/grid.hpp"
#include "producer/solver/cg.hpp"
#include "producer/solver/pagerank.hpp"
#include "tests/unit/producer/solver/solver_steps.hpp"
#include "tests/unit/producer/solver/solver_testing.hpp"

namespace ringside {
namespace {

constexpr std::uint32_t kSide = 70;  // more than one block of the reductions
constexpr std::uint64_t kRows = std::uint64_t{kSide} * kSide;

std::unique_ptr<Solver> solver_of_grid() {
  return make_pagerank(make_grid(kSide, Orientation::kInLinks), 0.85);
}

/// Runs iterations 1 to `last`. Each iterate that is due is copied, as into a slot, and reduced with the previous copy
/// as its previous iterate.
Reductions reduced_in_slots(std::uint64_t last, std::uint64_t every, int passes) {
  const auto solver = solver_of_grid();
  std::vector<double> x(kRows);
  std::vector<double> next(kRows);
  std::vector<double> slot;
  std::vector<double> slot_before;
  Reducer reducer(kRows);
  Reductions reductions;
  solver->start(x.data());
  solver->prepare(x.data(), {});
  for (std::uint64_t k = 1; k <= last; ++k) {
    solver->iterate(x.data(), next.data());
    x.swap(next);
    if (k % every != 0 && k != last) continue;
    slot_before = slot;
    slot = x;
    reductions = reducer.reduce(slot.data(), slot_before.empty() ? nullptr : slot_before.data(), passes);
  }
  return reductions;
}

class BaselineTest : public ::testing::Test {
 protected:
  /// iterations: 0 means that the run continues until the tolerance is met.
  BaselineResult run(std::uint64_t iterations, std::uint64_t every = 1, int passes = 1, double tolerance = 0) {
    SolveOptions options;
    options.iterations = iterations;
    options.every = every;
    options.tolerance = tolerance;
    const auto solver = solver_of_grid();
    convergence_ = ConvergenceCheck(options.tolerance, solver->growth_limit());
    return run_baseline({*solver, options, &stop_, account_, convergence_}, passes);
  }

  std::atomic<bool> stop_{false};
  ProducerAccount account_;
  ConvergenceCheck convergence_{0, 1};
};

void expect_same_bytes(const Reductions& a, const Reductions& b) {
  EXPECT_EQ(std::memcmp(&a, &b, sizeof a), 0) << "change " << a.change_l1 << " and " << b.change_l1;
}

TEST_F(BaselineTest, ReducesEachIterateAgainstTheOneBefore) {
  const BaselineResult result = run(10);
  EXPECT_EQ(result.end, SolveEnd::kIterationsDone);
  EXPECT_EQ(result.last_iteration, 10u);
  EXPECT_EQ(result.last.has_change, 1u);
  expect_same_bytes(result.last, reduced_in_slots(10, 1, 1));
}

TEST_F(BaselineTest, WithEveryItComparesWithTheIterateReducedBefore) {
  for (const std::uint64_t every : {2u, 3u, 5u}) {
    for (const std::uint64_t last : {every, 2 * every, 3 * every + 1, 4 * every}) {
      const BaselineResult result = run(last, every, 2);
      EXPECT_EQ(result.last_iteration, last);
      EXPECT_EQ(result.last.has_change, last > every ? 1u : 0u);
      expect_same_bytes(result.last, reduced_in_slots(last, every, 2));
    }
  }
}

// x of a reduced step is compared with x of the previously reduced step, wherever r and p are in the payload.
TEST_F(BaselineTest, AStepOfSeveralVariablesIsReducedByItsX) {
  const CsrMatrix matrix = testing::laplacian_plus_one(kRows, reference::grid_links(kSide));
  for (const std::uint64_t every : {1u, 3u}) {
    SolveOptions options;
    options.iterations = 10;
    options.every = every;
    const auto solver = make_cg(matrix, testing::right_side_of(testing::random_values(kRows, 1)));
    const std::vector<testing::Step> steps = testing::Stepper(*solver).next(10);
    convergence_ = ConvergenceCheck(0, solver->growth_limit(), solver->exhausted_criterion());
    const BaselineResult result = run_baseline({*solver, options, &stop_, account_, convergence_}, 1);
    EXPECT_EQ(result.end, SolveEnd::kIterationsDone);
    const std::vector<double> last = steps[9].vector(solver->variables(), 0);
    const std::vector<double> before = steps[8].vector(solver->variables(), 0);
    expect_same_bytes(result.last, Reducer(kRows).reduce(last.data(), before.data(), 1));
    EXPECT_EQ(account_.criterion.load(), steps[9].change.criterion);
  }
}

TEST_F(BaselineTest, TheFirstIterateHasNothingToBeComparedWith) {
  EXPECT_EQ(run(1).last.has_change, 0u);
}

TEST_F(BaselineTest, TheIterationThatConvergesIsReducedAlthoughItWasNotDue) {
  const BaselineResult result = run(0, 1000, 1, 1e-6);
  EXPECT_EQ(result.end, SolveEnd::kConverged);
  EXPECT_TRUE(account_.converged.load());
  EXPECT_EQ(result.last_iteration, account_.iterations.load());
  expect_same_bytes(result.last, reduced_in_slots(result.last_iteration, 1000, 1));
}

TEST_F(BaselineTest, StopEndsItAfterTheIterationAtHandWhichIsReduced) {
  stop_ = true;
  const BaselineResult result = run(10, 4);
  EXPECT_EQ(result.end, SolveEnd::kInterrupted);
  EXPECT_EQ(result.last_iteration, 1u);
  expect_same_bytes(result.last, reduced_in_slots(1, 4, 1));
}

}  // namespace
}  // namespace ringside
