// SPDX-License-Identifier: BSD-3-Clause
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

/// Reduces the iterates that the producer would publish.
class Baseline final : public IterateSink {
 public:
  Baseline(const SolveRun& run, int passes)
      : run_(run), iterates_(run.solver.rows()), reducer_(run.solver.rows()), passes_(passes) {
    iterates_.place(run.solver, run.options.every > 1);
  }

  BaselineResult run() noexcept {
    result_.end = solve(run_, 0, iterates_.start(), *this);
    return result_;
  }

 private:
  double* place(std::uint64_t, bool, const double* previous) noexcept override {
    return iterates_.other_than(previous, reduced_);
  }

  void take(const FinishedIterate& iterate) noexcept override {
    if (iterate.due) reduce(iterate);
  }

  SolveEnd finish(const FinishedIterate& last, SolveEnd how) noexcept override {
    if (reduced_ != last.x) reduce(last);
    return how;
  }

  void reduce(const FinishedIterate& iterate) noexcept {
    result_.last = reducer_.reduce(iterate.x, reduced_, passes_);
    result_.last_iteration = iterate.iteration;
    result_.ended_ns = now_ns();
    result_.analyze_ns += result_.ended_ns - iterate.generated_ns;
    reduced_ = iterate.x;
  }

  const SolveRun run_;
  Iterates iterates_;
  Reducer reducer_;
  int passes_;
  const double* reduced_ = nullptr;  // x_0 is not a step: the first change has nothing to compare with
  BaselineResult result_;
};

}  // namespace

BaselineResult run_baseline(const SolveRun& run, int passes) {
  return Baseline(run, passes).run();
}

}  // namespace ringside
