// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/jacobi.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/reference/serial_jacobi.hpp"
#include "tests/reference/small_matrix.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"
#include "tests/unit/producer/openmp_threads.hpp"
#include "tests/unit/producer/solver/solver_testing.hpp"

namespace ringside {
namespace {

using namespace reference;
using testing::right_side_of;

/// A diagonally dominant matrix with rows of different lengths.
CsrMatrix dominant_matrix(std::uint64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  std::uniform_int_distribution<std::uint64_t> column(0, n - 1);
  std::vector<Entry> entries;
  for (std::uint64_t row = 0; row < n; ++row) {
    for (std::uint64_t j = 0; j < row % 9; ++j) entries.push_back({row, column(random), value(random)});
    entries.push_back({row, row, row % 2 == 0 ? 10.0 : -11.0});
  }
  return build_rows(n, entries);
}

std::vector<double> iterate_times(Solver& solver, int count, Change* last = nullptr) {
  std::vector<double> x(solver.rows(), std::nan(""));
  std::vector<double> next(solver.rows(), std::nan(""));
  solver.start(x.data());
  solver.prepare(x.data(), {});
  for (int k = 0; k < count; ++k) {
    const Change change = solver.iterate(x.data(), next.data());
    if (last != nullptr) *last = change;
    std::swap(x, next);
  }
  return x;
}

std::string refusal_of(CsrMatrix matrix, RightSide b = {}) {
  return failure_line([&] { make_jacobi(std::move(matrix), std::move(b)); });
}

TEST(Jacobi, SolvesATwoByTwoSystemWorkedOutByHand) {
  // 2x + y = 1, x + 3y = 1: x = 2/5, y = 1/5.
  const auto solver = make_jacobi(build_rows(2, {{0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 1, 3}}));
  const auto first = iterate_times(*solver, 1);
  EXPECT_EQ(first[0], 0.5);
  EXPECT_EQ(first[1], 1.0 / 3);
  const auto x = iterate_times(*solver, 100);
  EXPECT_NEAR(x[0], 0.4, 1e-15);
  EXPECT_NEAR(x[1], 0.2, 1e-15);
}

TEST(Jacobi, ADiagonalMatrixIsSolvedInOneIteration) {
  const auto solver = make_jacobi(build_rows(3, {{0, 0, 2}, {1, 1, -4}, {2, 2, 0.5}}), right_side_of({1, 2, 3}));
  Change change;
  EXPECT_EQ(iterate_times(*solver, 1, &change), (std::vector<double>{0.5, -0.5, 6}));
  EXPECT_EQ(change.l1, 7);
  EXPECT_EQ(change.linf, 6);
  iterate_times(*solver, 2, &change);
  EXPECT_EQ(change.l1, 0);
}

TEST(Jacobi, RecoversAKnownSolution) {
  const std::uint64_t n = 3000;
  const CsrMatrix matrix = dominant_matrix(n, 1);
  std::vector<double> solution(n);
  for (std::uint64_t i = 0; i < n; ++i) solution[i] = std::sin(static_cast<double>(i));
  const auto x = iterate_times(*make_jacobi(matrix, right_side_of(testing::product(matrix, solution))), 200);
  for (std::uint64_t i = 0; i < n; ++i) EXPECT_NEAR(x[i], solution[i], 1e-14);
}

TEST(Jacobi, AgreesWithTheFormulaInLongDouble) {
  const CsrMatrix matrix = dominant_matrix(2500, 2);
  const auto x = iterate_times(*make_jacobi(matrix), 7);
  const auto expected = serial_jacobi(matrix, std::vector<double>(2500, 1.0), 7);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-15);
}

TEST(Jacobi, TakesEveryEntryOfAPatternForOne) {
  // The tridiagonal matrix of ones.
  const auto band = band_links(5, {-1, 0, 1});
  const auto pattern = iterate_times(*make_jacobi(build_matrix(5, band, Orientation::kRows, false)), 3);
  EXPECT_EQ(pattern, iterate_times(*make_jacobi(build_rows(5, band)), 3));
}

TEST(Jacobi, IsBitEqualForAnyNumberOfThreads) {
  const CsrMatrix matrix = dominant_matrix(7001, 3);
  const testing::OpenMpThreads one_at_first(1);
  Change change_of_one;
  const auto one = iterate_times(*make_jacobi(matrix), 9, &change_of_one);
  for (const int threads : {2, 3, 5}) {
    omp_set_num_threads(threads);
    Change change;
    const auto many = iterate_times(*make_jacobi(matrix), 9, &change);
    EXPECT_EQ(std::memcmp(one.data(), many.data(), one.size() * sizeof(double)), 0) << threads;
    EXPECT_EQ(change.l1, change_of_one.l1);
    EXPECT_EQ(change.linf, change_of_one.linf);
  }
}

TEST(Jacobi, EveryFormatAndInstructionSetGivesTheSameBits) {
  std::vector<Entry> entries;
  for (const Entry& link : site_links(2500, 4))
    entries.push_back({link.column, link.row, link.row % 3 == 0 ? -0.25 : 1});
  for (std::uint64_t row = 0; row < 2500; ++row) entries.push_back({row, row, 5000.0 + static_cast<double>(row % 7)});
  for (const bool with_values : {true, false}) {
    const CsrMatrix matrix = build_matrix(2500, entries, Orientation::kRows, with_values);
    const int count = with_values ? 8 : 3;  // the pattern's iterates grow
    Change change_of_csr;
    const auto csr = iterate_times(*make_jacobi(matrix, {}, Isa::kPlain, MatrixFormat::kCsr), count, &change_of_csr);
    const std::vector<double> ones(2500, 1.0);
    EXPECT_EQ(csr, plain_jacobi(matrix, ones, count)) << "every bit";
    const auto expected = serial_jacobi(matrix, ones, count);
    for (std::size_t i = 0; i < csr.size(); ++i)
      ASSERT_NEAR(csr[i], expected[i], 1e-12 * std::fabs(expected[i]) + 1e-15);
    for (const Isa isa : {Isa::kPlain, Isa::kAvx2, Isa::kAvx512}) {
      if (isa > selected_isa()) continue;
      for (const MatrixFormat format :
           {MatrixFormat::kAuto, MatrixFormat::kCsr, MatrixFormat::kBands, MatrixFormat::kPacked}) {
        Change change;
        const auto solver = make_jacobi(matrix, {}, isa, format);
        EXPECT_EQ(solver->nonzeros(), matrix.nonzeros());
        const auto x = iterate_times(*solver, count, &change);
        EXPECT_EQ(std::memcmp(x.data(), csr.data(), x.size() * sizeof(double)), 0)
            << to_string(format) << ", " << to_string(isa);
        EXPECT_EQ(change.l1, change_of_csr.l1);
      }
    }
  }
}

TEST(Jacobi, AStencilInBandsHasTheBitsOfThePlainLoops) {
  // Values that change in some rows, so that bands end in the middle of a line of eight rows.
  std::vector<Entry> entries;
  for (std::uint64_t row = 0; row < 5003; ++row) {
    entries.push_back({row, row, row < 1801 ? 5.0 : 7.0 + static_cast<double>(row / 4000)});
    for (const std::uint64_t distance : {1ul, 70ul}) {
      if (row < distance) continue;
      entries.push_back({row, row - distance, -1.25});
      entries.push_back({row - distance, row, distance == 1 ? -0.5 : -1});
    }
  }
  const CsrMatrix matrix = build_rows(5003, entries);
  const std::vector<double> expected = plain_jacobi(matrix, std::vector<double>(5003, 1.0), 9);
  for (const Isa isa : {Isa::kPlain, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > selected_isa()) continue;
    const auto solver = make_jacobi(matrix, {}, isa, MatrixFormat::kAuto);
    EXPECT_EQ(solver->format(), "bands");
    EXPECT_EQ(iterate_times(*solver, 9), expected) << "every bit, " << to_string(isa);
  }
}

TEST(Jacobi, StoresPastTheCacheGiveTheSame) {
  constexpr std::uint64_t kRows = 2'100'000;  // two vectors exceed 32 MiB
  std::vector<Entry> entries;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    entries.push_back({row, row, 4.0});
    if (row > 0) entries.push_back({row, row - 1, -1.5});
  }
  const auto solver = make_jacobi(build_rows(kRows, entries));
  EXPECT_EQ(solver->moved_bytes(), 16.0 * kRows);
  Array<double> room(3 * kRows + 32);
  double* const previous = room.data();
  double* const aligned = room.data() + (kRows / 8 + 1) * 8;
  double* const misaligned = aligned + (kRows / 8 + 1) * 8 + 1;
  for (std::uint64_t i = 0; i < kRows; ++i) previous[i] = static_cast<double>(i % 11);
  solver->prepare(previous, {});
  const Change streamed = solver->iterate(previous, aligned);
  const Change cached = solver->iterate(previous, misaligned);
  EXPECT_EQ(std::memcmp(aligned, misaligned, kRows * sizeof(double)), 0);
  EXPECT_EQ(streamed.l1, cached.l1);
}

TEST(Jacobi, HasNoFormatThatReordersItsVector) {
  EXPECT_THROW(make_jacobi(build_rows(1, {{0, 0, 1}}), {}, selected_isa(), MatrixFormat::kRanked), std::logic_error);
}

TEST(Jacobi, DoesNotClaimThatItCanOverwriteThePreviousIterate) {
  EXPECT_FALSE(make_jacobi(build_rows(1, {{0, 0, 1}}))->may_overwrite_previous());
}

TEST(Jacobi, NamesItsRightSideAmongItsParameters) {
  EXPECT_EQ(make_jacobi(build_rows(1, {{0, 0, 1}}))->parameters(), "right_side=ones");
  EXPECT_EQ(make_jacobi(build_rows(1, {{0, 0, 1}}), right_side_of({2}))->parameters(), "right_side=test");
}

TEST(Jacobi, RefusesAMissingOrZeroDiagonalAndNamesTheRow) {
  expect_has(refusal_of(build_rows(3, {{0, 0, 1}, {1, 0, 1}, {1, 2, 1}, {2, 2, 1}})), {"row 2 (counted from 1)"});
  expect_has(refusal_of(build_rows(3, {{0, 0, 1}, {1, 1, 1}, {2, 2, 0}})), {"row 3 (counted from 1)"});
}

TEST(Jacobi, RefusesEntriesThatAreNotFiniteAndNamesTheirPlace) {
  for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    const auto message = refusal_of(build_rows(3, {{0, 0, 1}, {1, 1, 1}, {1, 2, value}, {2, 2, 1}}));
    expect_has(message, {"in row 2, column 3 (counted from 1)"});
  }
  expect_has(refusal_of(build_rows(2, {{0, 0, 1}, {1, 1, 1}}), right_side_of({1, std::nan("")})), {"row 2"});
}

TEST(Jacobi, RefusesARightSideOfAnotherLength) {
  expect_has(refusal_of(build_rows(2, {{0, 0, 1}, {1, 1, 1}}), right_side_of({1, 2, 3})), {"3 values"});
}

TEST(Jacobi, RefusesAMatrixThatIsEmptyOrNotSquare) {
  expect_has(refusal_of(build_rows(0, {})), {"no rows"});
  CsrMatrix wide = build_rows(2, {{0, 0, 1}, {1, 1, 1}});
  wide.columns = 4;
  expect_has(refusal_of(wide), {"2 rows and 4 columns"});
}

}  // namespace
}  // namespace ringside
