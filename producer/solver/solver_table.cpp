// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solver/solver_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "common/platform/error.hpp"
#include "producer/kernels/row_layout.hpp"
#include "producer/solver/cg.hpp"
#include "producer/solver/jacobi.hpp"
#include "producer/solver/pagerank.hpp"

namespace ringside {
namespace {

const SolverEntry* const kSolvers[] = {
    &kPagerankSolver,
    &kJacobiSolver,
    &kCgSolver,
};

}  // namespace

std::span<const SolverEntry* const> solvers() noexcept {
  return kSolvers;
}

SolverChoices solver_choices() {
  SolverChoices choices;
  for (const SolverEntry* solver : kSolvers) choices.push_back(solver->choice);
  return choices;
}

const SolverEntry& solver_named(std::string_view name) {
  for (const SolverEntry* solver : kSolvers) {
    if (solver->choice.name == name) return *solver;
  }
  throw usage_error("--solver: found '{}', expected {}", name, joined(names_of(solver_choices()), "|"));
}

void refuse_options_not_taken(const SolverChoice& solver, const SolveOptions& options) {
  const auto refuse_unless = [&](bool SolverChoice::*takes, const std::string& found, std::string_view because) {
    if (solver.*takes) return;
    const auto others = names_where(solver_choices(), [&](const SolverChoice& other) { return other.*takes; });
    throw usage_error("{} with --solver {}{}; expected it with --solver {} only", found, solver.name, because,
                      joined(others, "|"));
  };
  if (!options.rhs.empty()) {
    refuse_unless(&SolverChoice::rhs, fmt::format("--rhs: found {}", options.rhs), ", which has no right-hand side");
  }
  if (options.damping_given) refuse_unless(&SolverChoice::damping, "--damping: found", ", which has none");
  if (format_named(options.matrix_format) == MatrixFormat::kRanked && !solver.ranked) {
    std::vector<std::string_view> others(kMatrixFormatNames.begin(), kMatrixFormatNames.end());
    std::erase(others, to_string(MatrixFormat::kRanked));
    throw usage_error(
        "--matrix-format: found 'ranked' with --solver {}, expected {}: {} reads the published iterates, whose order "
        "must not change",
        solver.name, joined(others, "|"), solver.name);
  }
}

}  // namespace ringside
