// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solve_loop.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "common/kernels/float_environment.hpp"
#include "common/platform/clock.hpp"
#include "include/ringside.h"
#include "producer/solver/solver_table.hpp"

namespace ringside {
namespace {

/// Updates the account after iteration `iterate.iteration`. Returns the result of the convergence check.
Progress account_for(const SolveRun& run, const FinishedIterate& iterate) noexcept {
  ProducerAccount& account = run.account;
  set(account.generate_ns, account.generate_ns.load(std::memory_order_relaxed) + iterate.generate_ns);
  set(account.ended_ns, iterate.generated_ns);
  set(account.iterations, iterate.iteration);
  set(account.residual_l1, iterate.change.l1);
  set(account.residual_linf, iterate.change.linf);
  set(account.criterion, iterate.change.criterion);
  const Progress progress = run.convergence.observe(iterate.change.criterion);
  set(account.residual_growth, run.convergence.growth_per_iteration().value_or(-1));
  set(account.iterations_left, to_figure(run.convergence.iterations_left()));
  return progress;
}

std::string rounded(double value) {
  return fmt::format("{:.3g}", value);
}

Error divergence_error(const SolveOptions& options, const ProducerAccount& account,
                       const ConvergenceCheck& convergence) {
  const double growth = convergence.growth_per_iteration().value_or(std::numeric_limits<double>::infinity());
  const std::uint64_t iterations = account.iterations.load();
  const double change = account.residual_l1.load();
  const std::string_view converges_for = solver_named(options.solver).converges_for;
  const std::string example = converges_for.empty() ? "" : fmt::format(" (as for {})", converges_for);
  if (!std::isfinite(change)) {
    return usage_error(
        "{}: {} exceeded a double's range: the L1 change of iteration {} is not finite, after growing by a factor of "
        "about {} per iteration; expected a matrix whose iteration matrix has a spectral radius below 1{}, and whose "
        "iterates stay finite",
        options.matrix, options.solver, iterations, rounded(growth), example);
  }
  return usage_error(
      "{}: {} diverges: after {} iterations the L1 change is {} and grows by a factor of about {} per iteration, more "
      "than a converging run can; expected a matrix whose iteration matrix has a spectral radius below 1{}",
      options.matrix, options.solver, iterations, rounded(change), rounded(growth), example);
}

/// The iteration that broke down is not counted, because it made no step.
Error breakdown_error(const SolveOptions& options, const ProducerAccount& account, const Solver& solver) {
  return usage_error("{}: {} broke down in iteration {}: {}", options.matrix, options.solver,
                     account.iterations.load() + 1, solver.breakdown());
}

}  // namespace

SolveEnd solve(const SolveRun& run, const FirstStep& first, IterateSink& sink) noexcept {
  const SolveOptions& options = run.options;
#pragma omp parallel
  set_default_floats();  // in each thread, because a resumed run must not mix two floating-point environments
  run.solver.prepare(first.payload, first.scalars);
  set(run.account.analyzer_cores_lent_ns, std::int64_t{0});  // cores lent while the solver was prepared do not count
  set(run.account.iterations, first.iteration);
  set(run.account.begun_ns, now_ns());

  FinishedIterate iterate;
  iterate.iteration = first.iteration;
  iterate.payload = first.payload;
  for (std::uint64_t k = first.iteration + 1;; ++k) {
    const bool due = k % options.every == 0 || k == options.last_iteration();
    void* next = sink.place(k, due, iterate.payload);
    if (next == nullptr) return sink.finish(iterate, SolveEnd::kInterrupted);

    const std::int64_t begin = now_ns();
    const Change change = run.solver.iterate(iterate.payload, next);
    const std::int64_t end = now_ns();
    if (change.broken_down) return SolveEnd::kBrokenDown;
    iterate = {
        .iteration = k, .payload = next, .change = change, .due = due, .generate_ns = end - begin, .generated_ns = end};

    const Progress progress = account_for(run, iterate);
    if (progress == Progress::kDiverged) return SolveEnd::kDiverged;
    sink.take(iterate);

    const bool interrupted = run.stop.is_set();
    if (progress == Progress::kConverged || k == options.last_iteration() || interrupted) {
      set(run.account.converged, progress == Progress::kConverged);
      return sink.finish(iterate, progress == Progress::kConverged ? SolveEnd::kConverged
                                  : interrupted                    ? SolveEnd::kInterrupted
                                                                   : SolveEnd::kIterationsDone);
    }
  }
}

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
