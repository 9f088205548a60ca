// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solve_end.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "library/ringside.h"
#include "producer/solver/solver_table.hpp"

namespace ringside {
namespace {

std::string rounded(double value) {
  return fmt::format("{:.3g}", value);
}

Error divergence_error(const SolveOptions& options, const ProducerAccount& account,
                       const ConvergenceCheck& convergence) {
  const double growth = convergence.growth_per_iteration().value_or(std::numeric_limits<double>::infinity());
  const std::uint64_t iterations = account.iterations.load();
  const double change = account.residual_l1.load();
  const std::string_view converges_for = solver_named(options.solver).converges_for;
  const std::string example = converges_for.empty() ? "" : fmt::format(" ({} has)", converges_for);
  if (!std::isfinite(change)) {
    return usage_error(
        "{}: {} left a double's range: the L1 change of iteration {} is not finite, after growing by a factor of about "
        "{} per iteration; accepted is a matrix whose iteration matrix has a spectral radius below 1{}, and whose "
        "iterates stay finite on the way",
        options.matrix, options.solver, iterations, rounded(growth), example);
  }
  return usage_error(
      "{}: {} diverges: after {} iterations the L1 change is {} and grows by a factor of about {} per "
      "iteration, more than it can where it converges; accepted is a matrix whose iteration matrix has a spectral "
      "radius below 1{}",
      options.matrix, options.solver, iterations, rounded(change), rounded(growth), example);
}

/// The iteration that broke down is not counted: it made no step.
Error breakdown_error(const SolveOptions& options, const ProducerAccount& account, const Solver& solver) {
  return usage_error("{}: {} broke down in iteration {}: {}", options.matrix, options.solver,
                     account.iterations.load() + 1, solver.breakdown());
}

}  // namespace

ExitCode exit_code_of(SolveEnd end) noexcept {
  switch (end) {
    case SolveEnd::kConverged:
    case SolveEnd::kIterationsDone: return ExitCode::kDone;
    case SolveEnd::kDiverged:
    case SolveEnd::kBrokenDown: return ExitCode::kUsage;
    case SolveEnd::kInterrupted: return ExitCode::kInterrupted;
    case SolveEnd::kAnalyzerGone: break;
  }
  return ExitCode::kPeerLost;
}

std::uint32_t outcome_of(SolveEnd end) noexcept {
  switch (end) {
    case SolveEnd::kConverged:
    case SolveEnd::kIterationsDone: return RINGSIDE_OUTCOME_FINISHED;
    case SolveEnd::kInterrupted: return RINGSIDE_OUTCOME_STOPPED;
    case SolveEnd::kDiverged:
    case SolveEnd::kBrokenDown: return RINGSIDE_OUTCOME_DIVERGED;
    case SolveEnd::kAnalyzerGone: break;
  }
  return RINGSIDE_OUTCOME_FAILED;
}

void refuse_solution(const SolveRun& run, SolveEnd end) {
  if (end == SolveEnd::kDiverged) throw divergence_error(run.options, run.account, run.convergence);
  if (end == SolveEnd::kBrokenDown) throw breakdown_error(run.options, run.account, run.solver);
}

}  // namespace ringside
