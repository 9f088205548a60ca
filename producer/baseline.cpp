#include "producer/baseline.hpp"

#include <utility>

#include "common/clock.hpp"
#include "producer/array.hpp"

namespace ringside {

BaselineResult run_baseline(Solver& solver, const SolveOptions& options, int passes, const std::atomic<bool>& stop,
                            ProducerAccount& account, ConvergenceCheck& convergence) {
  Array<double> x(solver.rows());
  Array<double> x_before(solver.rows());
  Reducer reducer(solver.rows());
  double* previous = x_before.data();
  double* next = x.data();
  solver.start(previous);
  solver.prepare(previous);

  BaselineResult result;
  const double* reduced_before = nullptr;  // x_0 is nobody's step: the first change has nothing to compare with
  account.begun_ns.store(now_ns(), std::memory_order_relaxed);
  for (std::uint64_t k = 1;; ++k) {
    const std::int64_t begin = now_ns();
    const Residual residual = solver.iterate(previous, next);
    const std::int64_t generated = now_ns();
    account.generate_ns.fetch_add(generated - begin, std::memory_order_relaxed);
    account.ended_ns.store(generated, std::memory_order_relaxed);
    account.iterations.store(k, std::memory_order_relaxed);
    account.residual_l1.store(residual.l1, std::memory_order_relaxed);
    account.residual_linf.store(residual.linf, std::memory_order_relaxed);

    const Progress state = convergence.observe(residual);
    account.iterations_left.store(to_figure(convergence.iterations_left()), std::memory_order_relaxed);
    if (state == Progress::kDiverged) {
      result.end = SolveEnd::kDiverged;
      return result;
    }
    const bool last = state == Progress::kConverged || k == options.last_iteration() || stop.load();
    if (k % options.every == 0 || last) {
      // With --every the iterate of the step before is gone: like the analyzer, compare only with what is at hand.
      result.last = reducer.reduce(next, options.every == 1 ? reduced_before : nullptr, passes);
      result.last_iteration = k;
      result.ended_ns = now_ns();
      result.analyze_ns += result.ended_ns - generated;
      reduced_before = next;
    }
    if (last) {
      account.converged.store(state == Progress::kConverged, std::memory_order_relaxed);
      if (state == Progress::kConverged) result.end = SolveEnd::kConverged;
      else if (stop.load()) result.end = SolveEnd::kInterrupted;
      return result;
    }
    std::swap(previous, next);
  }
}

}  // namespace ringside
