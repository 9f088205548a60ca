// SPDX-License-Identifier: BSD-3-Clause
// Compares conjugate gradients with both reference implementations and with known solutions. Every step must have the
// same bits, with any number of threads, any format and any instruction set.
#include "producer/solver/cg.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <cstring>
#include <string>
#include <vector>

#include "producer/solver/convergence.hpp"
#include "tests/reference/serial_cg.hpp"
#include "tests/unit/producer/openmp_threads.hpp"
#include "tests/unit/producer/solver/solver_steps.hpp"
#include "tests/unit/producer/solver/solver_testing.hpp"

namespace ringside {
namespace {

using namespace reference;
using namespace testing;

enum CgVariable : std::size_t { kVariableX, kVariableR, kVariableP };

/// A matrix with long and short rows, and with several blocks, the last of which has 452 rows.
CsrMatrix site_laplacian() {
  return laplacian_plus_one(2500, site_links(2500, 4));
}

void expect_same_steps(const Solver& solver, const std::vector<Step>& found, const std::vector<Step>& expected,
                       const std::string& what) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_TRUE(same_bits(solver.variables(), found[k], expected[k])) << what << ", step " << k + 1;
    EXPECT_EQ(found[k].change.criterion, expected[k].change.criterion) << what;
  }
}

TEST(ConjugateGradients, ATwoByTwoSystemIsSolvedInTwoIterations) {
  // 4x + y = 1, x + 3y = 2: x = 1/11, y = 7/11.
  const auto solver = make_cg(build_rows(2, {{0, 0, 4}, {0, 1, 1}, {1, 0, 1}, {1, 1, 3}}), right_side_of({1, 2}));
  const Step second = Stepper(*solver).next(2).back();
  const std::vector<double> x = second.vector(solver->variables(), kVariableX);
  EXPECT_NEAR(x[0], 1.0 / 11, 1e-15);
  EXPECT_NEAR(x[1], 7.0 / 11, 1e-15);
  EXPECT_LT(second.change.criterion, 1e-15);
}

TEST(ConjugateGradients, AOneByOneSystemIsSolvedInOneIteration) {
  const auto solver = make_cg(build_rows(1, {{0, 0, 4}}), right_side_of({3}));
  const Step first = Stepper(*solver).next();
  EXPECT_EQ(first.vector(solver->variables(), kVariableX)[0], 0.75);
  EXPECT_EQ(first.change.l1, 0.75);
  EXPECT_EQ(first.change.criterion, 0);
}

TEST(ConjugateGradients, RecoversAKnownSolutionOnAGrid) {
  constexpr std::uint64_t kSide = 60;
  const CsrMatrix matrix = laplacian_plus_one(kSide * kSide, grid_links(kSide));
  const std::vector<double> solution = random_values(kSide * kSide, 1);
  const auto solver = make_cg(matrix, right_side_of(product(matrix, solution)));
  ConvergenceCheck check(1e-14, solver->growth_limit(), solver->exhausted_criterion());
  Stepper stepper(*solver);
  Step step = stepper.next();
  int iterations = 1;
  for (; check.observe(step.change.criterion) == Progress::kRunning && iterations < 200; ++iterations) {
    step = stepper.next();
  }
  EXPECT_LT(iterations, 60) << "the condition number is 17";
  const std::vector<double> x = step.vector(solver->variables(), kVariableX);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], solution[i], 1e-13);
}

TEST(ConjugateGradients, AgreesWithTheRecurrenceInLongDouble) {
  const CsrMatrix matrix = site_laplacian();
  const std::vector<double> b = random_values(matrix.rows, 2);
  const auto solver = make_cg(matrix, right_side_of(b));
  const std::vector<double> x = Stepper(*solver).next(8).back().vector(solver->variables(), kVariableX);
  const std::vector<double> expected = serial_cg(matrix, b, 8);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-14);
}

/// Compares the steps until nothing is left to do, but at most 12 steps.
void expect_steps_of_plain_loops(const CsrMatrix& matrix, const std::vector<double>& b, Solver& solver) {
  const Schema schema = solver.variables();
  PlainCg plain(matrix, b);
  Stepper stepper(solver);
  for (int k = 1; k <= 12; ++k) {
    const Change change = plain.iterate();
    const Step step = stepper.next();
    ASSERT_EQ(step.vector(schema, kVariableX), plain.x) << k;
    ASSERT_EQ(step.vector(schema, kVariableR), plain.r) << k;
    ASSERT_EQ(step.vector(schema, kVariableP), plain.p) << k;
    ASSERT_EQ(step.scalars,
              (std::vector{std::bit_cast<std::uint64_t>(change.l1), std::bit_cast<std::uint64_t>(change.linf),
                           std::bit_cast<std::uint64_t>(plain.rho), std::bit_cast<std::uint64_t>(change.criterion)}))
        << k;
    if (change.criterion <= solver.exhausted_criterion()) break;
  }
}

// Tests matrices with so few rows that the lane of each row matters, with a last block of few rows, and with long rows.
TEST(ConjugateGradients, EveryStepHasTheBitsOfThePlainLoops) {
  for (const std::uint64_t rows : {1u, 7u, 13u, 31u, 1029u, 2500u}) {
    SCOPED_TRACE(rows);
    const CsrMatrix matrix = laplacian_plus_one(rows, rows < 100 ? band_links(rows, {1, 5}) : site_links(rows, 4));
    const std::vector<double> b = random_values(rows, 3);
    expect_steps_of_plain_loops(matrix, b, *make_cg(matrix, right_side_of(b)));
    expect_steps_of_plain_loops(matrix, std::vector<double>(rows, 1.0), *make_cg(matrix));
  }
}

TEST(ConjugateGradients, AStencilInBandsHasTheBitsOfThePlainLoops) {
  std::vector<Entry> entries;
  for (std::uint64_t row = 0; row < 2905; ++row) {
    entries.push_back({row, row, row < 1801 ? 5.0 : 6.0});
    for (const std::uint64_t distance : {1ul, 53ul}) {
      if (row < distance) continue;
      entries.push_back({row, row - distance, -1.25});
      entries.push_back({row - distance, row, -1.25});
    }
  }
  const CsrMatrix matrix = build_rows(2905, entries);
  const std::vector<double> b = random_values(2905, 6);
  for (const Isa isa : {Isa::kPlain, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > selected_isa()) continue;
    const auto solver = make_cg(matrix, right_side_of(b), isa, MatrixFormat::kAuto);
    EXPECT_EQ(solver->format(), "bands");
    expect_steps_of_plain_loops(matrix, b, *solver);
  }
}

TEST(ConjugateGradients, StoresPastTheCacheGiveTheSame) {
  constexpr std::uint64_t kRows = 1'060'000;  // four vectors exceed 32 MiB
  std::vector<Entry> entries;
  for (std::uint64_t row = 0; row < kRows; ++row) {
    entries.push_back({row, row, 4.0});
    if (row == 0) continue;
    entries.push_back({row, row - 1, -1.5});
    entries.push_back({row - 1, row, -1.5});
  }
  const auto solver = make_cg(build_rows(kRows, entries));
  EXPECT_EQ(solver->moved_bytes(), 88.0 * kRows);
  const Schema schema = solver->variables();
  const std::uint64_t bytes = (schema.payload_bytes() + 63) / 64 * 64;
  Array<std::byte> room(3 * bytes + 64);
  std::byte* const first = room.data();
  std::byte* const aligned = first + bytes;
  std::byte* const in_place = aligned + bytes;  // stores into vectors that are read are never non-temporal
  Change change[2];
  solver->start(first);
  solver->prepare(first, {});
  change[0] = solver->iterate(first, aligned);
  solver->start(in_place);
  solver->prepare(in_place, {});
  change[1] = solver->iterate(in_place, in_place);
  EXPECT_EQ(std::memcmp(aligned, in_place, schema.payload_bytes()), 0);
  EXPECT_EQ(change[0].l1, change[1].l1);
}

TEST(ConjugateGradients, IsBitEqualForAnyNumberOfThreads) {
  const CsrMatrix matrix = laplacian_plus_one(7001, site_links(7001, 5));
  const RightSide b = right_side_of(random_values(matrix.rows, 4));
  const OpenMpThreads one_at_first(1);
  const auto one = make_cg(matrix, b);
  const std::vector<Step> expected = Stepper(*one).next(9);
  for (const int threads : {2, 3, 4}) {
    omp_set_num_threads(threads);
    const auto many = make_cg(matrix, b);
    expect_same_steps(*many, Stepper(*many).next(9), expected, std::to_string(threads) + " threads");
  }
}

TEST(ConjugateGradients, EveryFormatAndInstructionSetGivesTheSameBits) {
  // A pattern that has a second entry in a row is singular or indefinite.
  const CsrMatrix identity = build_matrix(2500, band_links(2500, {0}), Orientation::kRows, false);
  for (const CsrMatrix& matrix : {site_laplacian(), identity}) {
    const RightSide b = right_side_of(random_values(matrix.rows, 5));
    const auto csr = make_cg(matrix, b, Isa::kPlain, MatrixFormat::kCsr);
    const std::vector<Step> expected = Stepper(*csr).next(10);
    for (const Isa isa : {Isa::kPlain, Isa::kAvx2, Isa::kAvx512}) {
      if (isa > selected_isa()) continue;
      for (const MatrixFormat format :
           {MatrixFormat::kAuto, MatrixFormat::kCsr, MatrixFormat::kBands, MatrixFormat::kPacked}) {
        const auto solver = make_cg(matrix, b, isa, format);
        EXPECT_EQ(solver->nonzeros(), matrix.nonzeros());
        expect_same_steps(*solver, Stepper(*solver).next(10), expected,
                          fmt::format("{}, {}", to_string(format), to_string(isa)));
      }
    }
  }
}

TEST(ConjugateGradients, AStepThatReplacesTheOneBeforeHasTheSameBits) {
  const auto solver = make_cg(site_laplacian());
  ASSERT_TRUE(solver->may_overwrite_previous());
  const std::vector<Step> expected = Stepper(*solver).next(5);
  const Schema schema = solver->variables();
  Step step{
      .payload = std::vector<std::byte>(schema.payload_bytes()), .scalars = expected.back().scalars, .change = {}};
  solver->start(step.payload.data());
  solver->prepare(step.payload.data(), {});
  for (int k = 0; k < 5; ++k) solver->iterate(step.payload.data(), step.payload.data());
  EXPECT_TRUE(same_bits(schema, step, expected.back()));
}

class ContinuedConjugateGradients : public ::testing::Test {
 protected:
  std::unique_ptr<Solver> make() const { return make_cg(matrix_, right_side_of(b_)); }

  /// x.Ax / 2 - b.x, which the solution minimises. Of all vectors that k iterations from x_0 can reach, x_k has the
  /// smallest value.
  double energy(const Step& step) const {
    const std::vector<double> x = step.vector(solver_->variables(), kVariableX);
    const std::vector<double> image = product(matrix_, x);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * (image[i] / 2 - b_[i]);
    return sum;
  }

  const CsrMatrix matrix_ = laplacian_plus_one(2500, site_links(2500, 6));
  const std::vector<double> b_ = random_values(2500, 6);
  const std::unique_ptr<Solver> solver_ = make();
  const std::vector<Step> whole_ = Stepper(*solver_).next(20);
  const Step& kept_ = whole_[8];
  const std::vector<Step> rest_{whole_.begin() + 9, whole_.end()};
};

TEST_F(ContinuedConjugateGradients, FromAKeptStepEveryLaterStepIsBitEqual) {
  const auto resumed = make();
  EXPECT_EQ(resumed->change_of(kept_.scalars).criterion, kept_.change.criterion);
  EXPECT_EQ(resumed->change_of(kept_.scalars).l1, kept_.change.l1);
  EXPECT_EQ(resumed->change_of(kept_.scalars).linf, kept_.change.linf);
  expect_same_steps(*resumed, Stepper(*resumed, kept_).next(11), rest_, "resumed");
}

// A run that kept only x could compute r again from b - A x, and set p = r, as at the beginning of CG.
TEST_F(ContinuedConjugateGradients, FromXAloneTheLaterStepsDiffer) {
  const auto restarted = make();
  const Schema schema = restarted->variables();
  const std::vector<double> x = kept_.vector(schema, kVariableX);
  std::vector<double> r = product(matrix_, x);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = b_[i] - r[i];
  Step from_x{.payload = kept_.payload, .scalars = {}, .change = {}};
  for (const std::size_t variable : {kVariableR, kVariableP}) {
    std::memcpy(from_x.payload.data() + schema.place(variable).offset, r.data(), r.size() * sizeof(double));
  }
  const std::vector<Step> steps = Stepper(*restarted, from_x).next(11);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    EXPECT_NE(steps[k].vector(schema, kVariableX), rest_[k].vector(schema, kVariableX)) << k + 10;
  }
  EXPECT_GT(energy(steps.back()), energy(rest_.back())) << "the directions of the first nine iterations are lost";
}

TEST_F(ContinuedConjugateGradients, WithAnotherRhoTheLaterStepsDiffer) {
  Step kept = kept_;
  kept.scalars[2] += 1;  // the last bit
  const auto resumed = make();
  const std::vector<Step> steps = Stepper(*resumed, kept).next(11);
  EXPECT_FALSE(same_bits(resumed->variables(), steps.back(), rest_.back()));
}

TEST(ConjugateGradients, AStepHasXAsAFieldAndWhatContinuesItAsState) {
  const auto solver = make_cg(build_rows(1, {{0, 0, 1}}));
  EXPECT_EQ(to_text(solver->variables()), "x f64[1], r f64[1] state, p f64[1] state");
  std::string scalars;
  for (const Scalar& scalar : solver->scalars()) scalars += scalar.name + " ";
  EXPECT_EQ(scalars, "residual_l1 residual_linf rho relative_residual ");
  EXPECT_EQ(solver->further_scalars().size() + 2, solver->scalars().size());
}

TEST(ConjugateGradients, NamesItsRightSideAmongItsParameters) {
  EXPECT_EQ(make_cg(build_rows(1, {{0, 0, 1}}))->parameters(), "right_side=ones");
  EXPECT_EQ(make_cg(build_rows(1, {{0, 0, 1}}), right_side_of({2}))->parameters(), "right_side=test");
}

}  // namespace
}  // namespace ringside
