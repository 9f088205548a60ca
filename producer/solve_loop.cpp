// SPDX-License-Identifier: BSD-3-Clause
#include "producer/solve_loop.hpp"

#include "common/kernels/float_environment.hpp"
#include "common/platform/clock.hpp"

namespace ringside {
namespace {

/// The figures of the account after iteration `iterate.iteration`; returns the verdict of the convergence check.
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

}  // namespace

SolveEnd solve(const SolveRun& run, const FirstStep& first, IterateSink& sink) noexcept {
  const SolveOptions& options = run.options;
#pragma omp parallel
  set_default_floats();  // in each thread that computes: a resumed run must not mix the bits of two environments
  run.solver.prepare(first.payload, first.scalars);
  set(run.account.analyzer_cores_lent_ns, std::int64_t{0});  // preparing is not part of the account
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

}  // namespace ringside
