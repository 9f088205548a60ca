// SPDX-License-Identifier: BSD-3-Clause
#include "producer/baseline.hpp"

#include <array>
#include <cstddef>

#include "common/platform/clock.hpp"
#include "producer/matrix/array.hpp"

namespace ringside {
namespace {

/// The payloads of the baseline. With --every, the last reduced iterate is still needed for the next change after the
/// solver has made other iterates. It stays in its payload while the solver uses the other two payloads in turn. A page
/// that is never written costs no memory, so without --every only two payloads take memory.
class Iterates {
 public:
  explicit Iterates(std::uint64_t bytes) {
    for (Array<std::byte>& payload : payloads_) payload = Array<std::byte>(bytes);
  }

  const void* start() const noexcept { return payloads_[0].data(); }

  /// Writes step 0 to all payloads that will be used, from the threads that will write to them. The system allocates a
  /// page at its first write. Allocating the pages takes longer than an iteration, and must not count as part of the
  /// first iteration.
  void place(const Solver& solver, bool some_are_not_reduced) {
    for (std::size_t used = some_are_not_reduced ? 3 : 2; used-- > 0;) solver.start(payloads_[used].data());
  }

  /// A payload other than these two.
  void* other_than(const void* previous, const void* reduced) noexcept {
    for (Array<std::byte>& payload : payloads_) {
      if (payload.data() != previous && payload.data() != reduced) return payload.data();
    }
    return nullptr;  // cannot happen with three payloads
  }

 private:
  std::array<Array<std::byte>, 3> payloads_;
};

/// Reduces x of the steps that the producer would publish.
class Baseline final : public IterateSink {
 public:
  Baseline(const SolveRun& run, int passes)
      : run_(run), iterates_(run.solver.variables().payload_bytes()), reducer_(run.solver.rows()), passes_(passes) {
    iterates_.place(run.solver, run.options.every > 1);
  }

  BaselineResult run() noexcept {
    result_.end = solve(run_, {.payload = iterates_.start()}, *this);
    return result_;
  }

 private:
  void* place(std::uint64_t, bool, const void* previous) noexcept override {
    return iterates_.other_than(previous, reduced_);
  }

  void take(const FinishedIterate& iterate) noexcept override {
    if (iterate.due) reduce(iterate);
  }

  SolveEnd finish(const FinishedIterate& last, SolveEnd how) noexcept override {
    if (reduced_ != last.payload) reduce(last);
    return how;
  }

  void reduce(const FinishedIterate& iterate) noexcept {
    const auto* const x = static_cast<const double*>(iterate.payload);
    result_.last = reducer_.reduce(x, static_cast<const double*>(reduced_), passes_);
    result_.last_iteration = iterate.iteration;
    result_.ended_ns = now_ns();
    result_.analyze_ns += result_.ended_ns - iterate.generated_ns;
    reduced_ = iterate.payload;
  }

  const SolveRun run_;
  Iterates iterates_;
  Reducer reducer_;
  int passes_;
  const void* reduced_ = nullptr;  // step 0 does not count, because the first change has no predecessor
  BaselineResult result_;
};

}  // namespace

BaselineResult run_baseline(const SolveRun& run, int passes) {
  return Baseline(run, passes).run();
}

}  // namespace ringside
