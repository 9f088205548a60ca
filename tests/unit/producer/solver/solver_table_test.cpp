// SPDX-License-Identifier: BSD-3-Clause
// The table of solvers: which names are accepted, and which options are refused because a solver does not take them.
#include "producer/solver/solver_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "producer/solver/problem.hpp"
#include "tests/unit/expect_text.hpp"
#include "tests/unit/producer/matrix/matrix_testing.hpp"
#include "tests/unit/producer/solver/solver_steps.hpp"

namespace ringside {
namespace {

/// The options of a run whose matrix does not exist.
SolveOptions options_for(const std::string& solver) {
  SolveOptions options;
  options.matrix = "missing.mtx";
  options.solver = solver;
  return options;
}

std::string refusal(const SolveOptions& options) {
  return failure_line([&] { load_problem(options); });
}

TEST(SolverTable, EachNameStandsForOneSolverThatCanBeMade) {
  const testing::TemporaryFolder folder;
  std::set<std::string_view> names;
  for (const SolverEntry* solver : solvers()) {
    EXPECT_TRUE(names.insert(solver->choice.name).second) << solver->choice.name;
    EXPECT_EQ(&solver_named(solver->choice.name), solver);
    EXPECT_FALSE(solver->choice.help.empty()) << solver->choice.name;

    SolveOptions options;
    options.solver = solver->choice.name;
    options.matrix = folder.write("a.txt", "0 0 1\n0 1 0.5\n1 0 0.5\n1 1 1\n");
    const Problem problem = load_problem(options);
    EXPECT_EQ(problem.solver->rows(), 2u);
    EXPECT_EQ(text_of(problem.description.solver), solver->choice.name);
  }
  EXPECT_TRUE(names.count(SolveOptions().solver)) << "the default";
}

// The hand-off and the ring rely on this for every solver.
TEST(SolverTable, EachSolverContinuesBitEqualFromTheVariablesAndScalarsThatItDeclares) {
  const testing::TemporaryFolder folder;
  SolveOptions options;
  // The matrix is positive definite and has more than one block of rows. The solvers need more iterations than the test
  // makes.
  options.matrix = folder.file("a.txt");
  std::string text;
  for (int row = 0; row < 1100; ++row) {
    text += fmt::format("{0} {0} 6\n", row);
    if (row > 0) text += fmt::format("{0} {1} {2}\n{1} {0} {2}\n", row, row - 1, 0.5 + row % 3);
  }
  folder.write("a.txt", text);
  for (const SolverEntry* entry : solvers()) {
    options.solver = entry->choice.name;
    const auto solver = load_problem(options).solver;
    const Schema schema = solver->variables();
    EXPECT_EQ(schema.variables()[0], Schema::x_only(solver->rows()).variables()[0]) << options.solver;
    EXPECT_FALSE(solver->moved_bytes()) << options.solver << ": the rows are in no bands";
    EXPECT_EQ(schema.size(), static_cast<std::size_t>(entry->vectors)) << options.solver;
    for (std::size_t v = 0; v < schema.size(); ++v) {
      EXPECT_EQ(schema.place(v).bytes, solver->rows() * sizeof(double)) << options.solver;
    }
    const std::vector<Scalar> scalars = solver->scalars();
    ASSERT_EQ(scalars.size(), 2 + solver->further_scalars().size()) << options.solver;
    EXPECT_EQ(scalars[0].name, "residual_l1");
    EXPECT_EQ(scalars[1].name, "residual_linf");

    const std::vector<testing::Step> steps = testing::Stepper(*solver).next(12);
    EXPECT_FALSE(testing::same_bits(schema, steps[10], steps[11])) << options.solver << " has nothing left to do";
    const auto resumed = load_problem(options).solver;
    testing::Stepper stepper(*resumed, steps[4]);
    EXPECT_EQ(resumed->change_of(steps[4].scalars).criterion, steps[4].change.criterion);
    for (std::size_t k = 5; k < steps.size(); ++k) {
      EXPECT_TRUE(testing::same_bits(schema, stepper.next(), steps[k])) << options.solver << ", step " << k + 1;
    }
  }
}

TEST(SolverTable, AnUnknownNameIsRefusedWithThoseThatExist) {
  std::string names;
  for (const std::string& name : names_of(solver_choices())) names += (names.empty() ? "" : "|") + name;
  EXPECT_EQ(refusal(options_for("gauss")), "--solver: found 'gauss', expected " + names);
}

// The matrix does not exist. The message does not name it, so it was not opened.
TEST(SolverTable, AnOptionThatTheSolverDoesNotTakeIsRefusedBeforeTheMatrixIsOpened) {
  const auto takers = [](bool SolverChoice::*takes) {
    const auto names = names_where(solver_choices(), [&](const SolverChoice& solver) { return solver.*takes; });
    return fmt::format("{}", fmt::join(names, "|"));
  };
  expect_has(takers(&SolverChoice::rhs), {"jacobi"});
  expect_has(takers(&SolverChoice::damping), {"pagerank"});
  SolveOptions options = options_for("pagerank");
  options.rhs = "b.mtx";
  EXPECT_EQ(refusal(options),
            fmt::format("--rhs: found b.mtx with --solver pagerank, which has no right-hand side; expected it with "
                        "--solver {} only",
                        takers(&SolverChoice::rhs)));
  options = options_for("jacobi");
  options.damping_given = true;
  EXPECT_EQ(refusal(options), fmt::format("--damping: found with --solver jacobi, which has none; expected it with "
                                          "--solver {} only",
                                          takers(&SolverChoice::damping)));
  options = options_for("jacobi");
  options.matrix_format = "ranked";
  EXPECT_EQ(refusal(options),
            "--matrix-format: found 'ranked' with --solver jacobi, expected auto|csr|bands|packed: jacobi reads the "
            "published iterates, whose order must not change");
}

TEST(SolverTable, AnOptionThatTheSolverTakesIsAccepted) {
  SolveOptions options = options_for("pagerank");
  options.damping_given = true;
  options.matrix_format = "ranked";
  EXPECT_NO_THROW(refuse_options_not_taken(solver_named("pagerank").choice, options));
  for (const char* name : {"jacobi", "cg"}) {
    options = options_for(name);
    options.rhs = "b.mtx";
    options.matrix_format = "packed";
    EXPECT_NO_THROW(refuse_options_not_taken(solver_named(name).choice, options));
  }
}

}  // namespace
}  // namespace ringside
