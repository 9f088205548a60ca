// SPDX-License-Identifier: BSD-3-Clause
// Jacobi together with the convergence check: temporary growth of the change is tolerated, permanent growth is
// detected.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "producer/matrix/symmetry.hpp"
#include "producer/solver/jacobi.hpp"
#include "tests/reference/small_matrix.hpp"
#include "tests/unit/producer/openmp_threads.hpp"
#include "tests/unit/producer/solver/solver_testing.hpp"

namespace ringside {
namespace {

using namespace reference;
using testing::Solved;

/// A matrix with ones on the diagonal and `below` in the subdiagonal. The only eigenvalue of its iteration matrix is 0,
/// so that Jacobi is exact after n iterations.
CsrMatrix bidiagonal(std::uint64_t n, double below) {
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 1});
    if (i > 0) entries.push_back({i, i - 1, below});
  }
  return build_rows(n, entries);
}

/// Pairs of rows whose 2 x 2 iteration matrix has the eigenvalues +-radius; each pair is coupled to the previous one.
CsrMatrix chain_of_pairs(std::uint64_t pairs, double radius, double feed) {
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < 2 * pairs; ++i) {
    entries.push_back({i, i, 1});
    entries.push_back({i, i ^ 1, radius});
    if (i > 1) entries.push_back({i, i - 2, feed});
  }
  return build_rows(2 * pairs, entries);
}

/// Uses one thread, because with thousands of tiny iterations, threads would only wait for each other.
class JacobiConvergence : public ::testing::Test {
 protected:
  static Solved solve(CsrMatrix matrix, double tolerance, int most) {
    return testing::solve(*make_jacobi(std::move(matrix)), tolerance, most);
  }

 private:
  const testing::OpenMpThreads one_{1};
};

TEST_F(JacobiConvergence, ABidiagonalMatrixIsSolvedHoweverMuchItsChangeGrowsFirst) {
  for (const double below : {1.5, -3.0, 4.0}) {
    constexpr std::uint64_t kRows = 400;
    const Solved out = solve(bidiagonal(kRows, below), 1e-10, 1000);
    EXPECT_EQ(out.progress, Progress::kConverged) << below;
    EXPECT_LE(out.iterations, 402);  // one more finds no change; one more if a last bit changes
    EXPECT_GT(out.largest_change, 1e60);
    double x = 1;
    for (std::uint64_t i = 0; i < kRows; x = 1 - below * x, ++i) ASSERT_EQ(out.x[i], x) << i;
  }
}

TEST_F(JacobiConvergence, AHumpThatLastsLongerThanThereAreRowsIsWaitedFor) {
  const Solved out = solve(chain_of_pairs(20, 0.9, 50), 0, 3000);
  EXPECT_EQ(out.progress, Progress::kRunning) << "after iteration " << out.iterations;
  EXPECT_GT(out.largest_at, 2 * 40);
  EXPECT_GT(out.largest_change, 1e30);
  EXPECT_LT(out.change.l1, 1e-12 * out.largest_change);
}

TEST_F(JacobiConvergence, ASymmetricMatrixThatDivergesIsNoticedEarly) {
  const Solved out = solve(build_rows(2, {{0, 0, 1}, {0, 1, 1.1}, {1, 0, 1.1}, {1, 1, 1}}), 1e-10, 100'000);
  EXPECT_EQ(out.progress, Progress::kDiverged);
  EXPECT_LT(out.iterations, 200);
}

TEST_F(JacobiConvergence, AnyOtherMatrixThatDivergesIsNoticedWhenItLeavesADoublesRange) {
  const Solved out = solve(build_rows(2, {{0, 0, 1}, {0, 1, 2}, {1, 0, 1}, {1, 1, 1}}), 1e-10, 100'000);
  EXPECT_EQ(out.progress, Progress::kDiverged);
  EXPECT_EQ(out.largest_change, std::numeric_limits<double>::infinity());
  EXPECT_LT(out.iterations, 2060);  // sqrt(2)^2048 = 2^1024
}

TEST_F(JacobiConvergence, ASymmetricMatrixGrowsNoMoreThanItsLimit) {
  // A matrix with scaled rows and columns, whose iteration matrix has a spectral radius just below 1. The L1 change can
  // grow when a large change of a heavy row moves to light rows.
  std::vector<Entry> entries;
  constexpr std::uint64_t kRows = 50;
  const auto scale = [](std::uint64_t i) { return i == 25 ? 1e6 : 1.0; };
  for (std::uint64_t i = 0; i < kRows; ++i) {
    entries.push_back({i, i, scale(i) * scale(i)});
    if (i > 0) {
      entries.push_back({i, i - 1, 0.5 * scale(i) * scale(i - 1)});
      entries.push_back({i - 1, i, 0.5 * scale(i) * scale(i - 1)});
    }
  }
  const CsrMatrix matrix = build_rows(kRows, entries);
  RightSide only_the_heavy_row{Array<double>(kRows), "heavy"};
  only_the_heavy_row.value[25] = 1;
  const auto solver = make_jacobi(matrix, std::move(only_the_heavy_row));
  std::vector<double> x(kRows);
  std::vector<double> next(kRows);
  double smallest = std::numeric_limits<double>::infinity();
  double growth = 0;
  for (int k = 0; k < 20'000; ++k) {
    const double change = solver->iterate(x.data(), next.data()).l1;
    x.swap(next);
    if (change < 1e-18) break;  // only rounding errors remain
    smallest = std::fmin(smallest, change);
    growth = std::fmax(growth, change / smallest);
  }
  EXPECT_GT(growth, 1e5);
  EXPECT_LE(growth, solver->growth_limit());
  EXPECT_LT(solver->growth_limit(), 1e9);
}

TEST(Symmetry, IsSeenInPlacesAndInValues) {
  EXPECT_EQ(asymmetry(build_rows(3, {{0, 0, 5}, {0, 1, 2}, {1, 0, 2}, {2, 1, -1}, {1, 2, -1}})), 0u);
  EXPECT_NE(asymmetry(build_rows(3, {{0, 1, 2}, {1, 0, 3}})), 0u);
  EXPECT_NE(asymmetry(build_rows(3, {{0, 1, 2}, {1, 2, 2}})), 0u);
  EXPECT_NE(asymmetry(build_rows(3, {{0, 1, 2}, {2, 0, 2}})), 0u);
  EXPECT_NE(asymmetry(build_rows(4, {{0, 1, 2}, {1, 0, 3}, {2, 3, 3}, {3, 2, 2}})), 0u);
  EXPECT_EQ(asymmetry(build_matrix(100, grid_links(10), Orientation::kRows, false)), 0u);
  EXPECT_NE(asymmetry(build_matrix(100, thinned(grid_links(10), 0.01, 1), Orientation::kRows, false)), 0u);
}

TEST(Symmetry, PromisesALimitOnlyWithADiagonalOfOneSign) {
  const auto limit_of = [](double first, double second, double beside, double mirrored) {
    return make_jacobi(build_rows(2, {{0, 0, first}, {0, 1, beside}, {1, 0, mirrored}, {1, 1, second}}))
        ->growth_limit();
  };
  EXPECT_DOUBLE_EQ(limit_of(1, 1, 3, 3), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(limit_of(-4, -1, 3, 3), std::sqrt(4 * 1.25));
  EXPECT_EQ(limit_of(1, -1, 3, 3), std::numeric_limits<double>::infinity());
  EXPECT_EQ(limit_of(1, 1, 3, 2), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace ringside
