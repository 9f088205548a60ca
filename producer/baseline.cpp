#include "producer/baseline.hpp"

#include <array>

#include "common/platform/clock.hpp"
#include "producer/matrix/array.hpp"

namespace ringside {
namespace {

/// The vectors of the baseline. With --every the iterate reduced last is needed once more, for the next change, when
/// the solver has long moved on: it stays in place and the other two take turns. A page that is never written costs no
/// memory, so that without --every only two vectors take any.
class Iterates {
 public:
  explicit Iterates(std::uint64_t rows) : vectors_{Array<double>(rows), Array<double>(rows), Array<double>(rows)} {}

  double* start() noexcept { return vectors_[0].data(); }

  /// Writes x_0 to all vectors that will be used, from the threads that will write to them. The system allocates a
  /// page when it is first written to. That takes longer than an iteration, and must not count as part of the first
  /// one.
  void place(const Solver& solver, bool some_are_not_reduced) {
    for (std::size_t used = some_are_not_reduced ? 3 : 2; used-- > 0;) solver.start(vectors_[used].data());
  }

  /// A vector that is neither of these two.
  double* other_than(const double* previous, const double* reduced) noexcept {
    for (Array<double>& vector : vectors_) {
      if (vector.data() != previous && vector.data() != reduced) return vector.data();
    }
    return nullptr;  // cannot happen with three
  }

 private:
  std::array<Array<double>, 3> vectors_;
};

}  // namespace

BaselineResult run_baseline(Solver& solver, const SolveOptions& options, int passes, const std::atomic<bool>& stop,
                            ProducerAccount& account, ConvergenceCheck& convergence) {
  Iterates iterates(solver.rows());
  Reducer reducer(solver.rows());
  iterates.place(solver, options.every > 1);
  solver.prepare(iterates.start());

  BaselineResult result;
  const double* previous = iterates.start();
  const double* reduced = nullptr;  // x_0 is not a step: the first change has nothing to compare with
  account.begun_ns.store(now_ns(), std::memory_order_relaxed);
  for (std::uint64_t k = 1;; ++k) {
    double* next = iterates.other_than(previous, reduced);
    const std::int64_t begin = now_ns();
    const Residual residual = solver.iterate(previous, next);
    const std::int64_t generated = now_ns();
    account.generate_ns.fetch_add(generated - begin, std::memory_order_relaxed);
    account.ended_ns.store(generated, std::memory_order_relaxed);
    account.iterations.store(k, std::memory_order_relaxed);
    account.residual_l1.store(residual.l1, std::memory_order_relaxed);
    account.residual_linf.store(residual.linf, std::memory_order_relaxed);

    const Progress state = convergence.observe(residual);
    account.residual_growth.store(convergence.growth_per_iteration().value_or(-1), std::memory_order_relaxed);
    account.iterations_left.store(to_figure(convergence.iterations_left()), std::memory_order_relaxed);
    if (state == Progress::kDiverged) {
      result.end = SolveEnd::kDiverged;
      return result;
    }
    const bool interrupted = stop.load(std::memory_order_relaxed);
    const bool last = state == Progress::kConverged || k == options.last_iteration() || interrupted;
    if (k % options.every == 0 || last) {
      result.last = reducer.reduce(next, reduced, passes);
      result.last_iteration = k;
      result.ended_ns = now_ns();
      result.analyze_ns += result.ended_ns - generated;
      reduced = next;
    }
    if (last) {
      account.converged.store(state == Progress::kConverged, std::memory_order_relaxed);
      if (state == Progress::kConverged)
        result.end = SolveEnd::kConverged;
      else if (interrupted)
        result.end = SolveEnd::kInterrupted;
      return result;
    }
    previous = next;
  }
}

}  // namespace ringside
