// SPDX-License-Identifier: BSD-3-Clause
// The problems that conjugate gradients refuses before or during the iteration, and how it ends when nothing is left to
// do.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "producer/solver/cg.hpp"
#include "producer/solver/convergence.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"
#include "tests/unit/producer/solver/solver_steps.hpp"
#include "tests/unit/producer/solver/solver_testing.hpp"

namespace ringside {
namespace {

using namespace reference;
using namespace testing;

std::string refusal_by_cg(CsrMatrix matrix, RightSide b = {}) {
  return failure_line([&] { make_cg(std::move(matrix), std::move(b)); });
}

/// The number of the iteration that breaks down, and the message.
std::pair<int, std::string> breakdown_of(CsrMatrix matrix, const std::vector<double>& b) {
  const auto solver = make_cg(std::move(matrix), right_side_of(b));
  Stepper stepper(*solver);
  for (int k = 1; k <= 100; ++k) {
    if (stepper.next().change.broken_down) return {k, solver->breakdown()};
  }
  return {0, "none"};
}

TEST(ConjugateGradientsBreakdown, AnIndefiniteMatrixIsNamedWhereItsSignShows) {
  // Eigenvalues 3 and -1; b is the eigenvector of -1, p.Ap = -b.b.
  const CsrMatrix indefinite = build_rows(2, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}});
  EXPECT_EQ(
      breakdown_of(indefinite, {1, -1}),
      std::pair(1, std::string("found p.Ap = -2, expected a number above 0: the matrix is not positive definite")));
  // With b = (1, 0), the second iteration reaches the other eigenvector.
  const auto [iteration, text] = breakdown_of(indefinite, {1, 0});
  EXPECT_EQ(iteration, 2);
  expect_has(text, {"not positive definite"});
}

TEST(ConjugateGradientsBreakdown, ASingularMatrixIsNamedIfTheRightSideIsOutsideItsRange) {
  // The Laplacian of a ring of five rows maps b = (1, 1, 1, 1, 1) to 0.
  std::vector<Entry> ring;
  for (std::uint64_t i = 0; i < 5; ++i) {
    ring.push_back({i, i, 2});
    ring.push_back({i, (i + 1) % 5, -1});
    ring.push_back({(i + 1) % 5, i, -1});
  }
  EXPECT_EQ(breakdown_of(build_rows(5, ring), {1, 1, 1, 1, 1}),
            std::pair(1, std::string("found p.Ap = 0, expected a number above 0: the matrix is singular, or its "
                                     "entries are too small")));
  EXPECT_EQ(breakdown_of(build_rows(5, ring), {1, -1, 0, 0, 0}).first, 0) << "inside it there is a solution";
}

TEST(ConjugateGradientsBreakdown, NumbersBeyondADoublesRangeAreNamed) {
  const auto [iteration, text] = breakdown_of(build_rows(2, {{0, 0, 1e300}, {1, 1, 1}}), {1e80, 1});
  EXPECT_EQ(iteration, 1);
  EXPECT_EQ(text,
            "found p.Ap = inf, expected a finite number: the entries of the matrix or of the right-hand side are "
            "too large or too small");
  expect_has(breakdown_of(build_rows(2, {{0, 0, 1e-250}, {1, 1, 1e-250}}), {1e90, 1}).second, {"finite"});
}

TEST(ConjugateGradientsBreakdown, TheScalarsStayThoseOfTheStepBefore) {
  const auto solver = make_cg(build_rows(2, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}}), right_side_of({1, 0}));
  Stepper stepper(*solver);
  const Step first = stepper.next();
  EXPECT_TRUE(stepper.next().change.broken_down);
  EXPECT_EQ(solver->further_scalars()[0], first.scalars[2]);
}

TEST(ConjugateGradientsEnd, ARightSideOfZerosIsSolvedByZeros) {
  const auto solver = make_cg(build_rows(2, {{0, 0, 4}, {1, 1, 3}}), right_side_of({0, 0}));
  ConvergenceCheck check(0, solver->growth_limit(), solver->exhausted_criterion());
  const Step step = Stepper(*solver).next();
  EXPECT_EQ(check.observe(step.change.criterion), Progress::kConverged);
  EXPECT_EQ(step.vector(solver->variables(), 0), (std::vector<double>{0, 0}));
  EXPECT_EQ(step.change.l1, 0);
}

// If the iteration did not end, r would become smaller until p.Ap underflows, which would look like a singular matrix.
TEST(ConjugateGradientsEnd, WithoutAToleranceTheIterationEndsWhenRIsExhausted) {
  CsrMatrix matrix = laplacian_plus_one(400, grid_links(20));
  for (double& value : matrix.value) value *= 1e-20;  // so that p.Ap underflows before r.r does
  const auto solver = make_cg(matrix, right_side_of(random_values(400, 7)));
  ConvergenceCheck check(0, solver->growth_limit(), solver->exhausted_criterion());
  Stepper stepper(*solver);
  Step step = stepper.next();
  int iterations = 1;
  for (; check.observe(step.change.criterion) == Progress::kRunning && iterations < 1000; ++iterations) {
    step = stepper.next();
    ASSERT_FALSE(step.change.broken_down) << solver->breakdown();
  }
  EXPECT_LT(iterations, 1000);
  const std::vector<double> x = step.vector(solver->variables(), 0);
  for (int k = 0; k < 3000; ++k) ASSERT_FALSE((step = stepper.next()).change.broken_down) << "later iterations rest";
  EXPECT_EQ(step.vector(solver->variables(), 0), x);
  EXPECT_EQ(step.change.l1, 0);
}

TEST(ConjugateGradientsRefusals, AMatrixThatIsNotSymmetricIsRefusedWithTheEntry) {
  EXPECT_EQ(
      refusal_by_cg(build_rows(2, {{0, 0, 4}, {0, 1, 2}, {1, 0, 3}, {1, 1, 4}})),
      "found the entry 2 in row 1, column 2 (counted from 1), and 3 at the mirrored position; cg accepts symmetric "
      "positive definite matrices");
  expect_has(refusal_by_cg(build_rows(3, {{0, 0, 4}, {1, 1, 4}, {2, 0, 3}, {2, 2, 4}})),
             {"the entry 3 in row 3, column 1 (counted from 1), and no entry at the mirrored position"});
}

TEST(ConjugateGradientsRefusals, ADiagonalThatNoPositiveDefiniteMatrixHasIsRefusedWithTheRow) {
  expect_has(refusal_by_cg(build_rows(3, {{0, 0, 4}, {0, 1, 2}, {1, 0, 2}, {2, 2, 4}})),
             {"no entry on the diagonal in row 2 (counted from 1)"});
  expect_has(refusal_by_cg(build_rows(2, {{0, 0, 4}, {1, 1, -4}})), {"-4 on the diagonal in row 2"});
}

TEST(ConjugateGradientsRefusals, NumbersThatAreNotFiniteAreRefusedWithTheirPlace) {
  for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    expect_has(refusal_by_cg(build_rows(2, {{0, 0, 4}, {0, 1, value}, {1, 0, value}, {1, 1, 4}})),
               {"in row 1, column 2 (counted from 1), cg accepts finite entries"});
    expect_has(refusal_by_cg(build_rows(2, {{0, 0, 4}, {1, 1, 4}}), right_side_of({1, value})), {"in row 2"});
  }
}

TEST(ConjugateGradientsRefusals, ARightSideWhoseSquareLeavesADoublesRangeIsRefused) {
  const CsrMatrix matrix = build_rows(2, {{0, 0, 4}, {1, 1, 4}});
  EXPECT_EQ(refusal_by_cg(matrix, right_side_of({1e-200, 0})),
            "the right-hand side's largest magnitude is 1e-200; cg accepts 1e-100 to 1e+100, or 0");
  expect_has(refusal_by_cg(matrix, right_side_of({1, -1e160})), {"is 1e+160"});
  EXPECT_EQ(refusal_by_cg(matrix, right_side_of({1e-100, 1e-300})), "") << "accepted";
  EXPECT_EQ(refusal_by_cg(matrix, right_side_of({1e100, 1})), "") << "accepted";
}

TEST(ConjugateGradientsRefusals, AShapeThatDoesNotFitIsRefused) {
  expect_has(refusal_by_cg(build_rows(0, {})), {"no rows; cg needs"});
  CsrMatrix wide = build_rows(2, {{0, 0, 1}, {1, 1, 1}});
  wide.columns = 4;
  expect_has(refusal_by_cg(wide), {"2 rows and 4 columns"});
  expect_has(refusal_by_cg(build_rows(2, {{0, 0, 1}, {1, 1, 1}}), right_side_of({1, 2, 3})), {"3 values"});
  EXPECT_THROW(make_cg(build_rows(1, {{0, 0, 1}}), {}, selected_isa(), MatrixFormat::kRanked), std::logic_error);
}

}  // namespace
}  // namespace ringside
