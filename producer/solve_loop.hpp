// SPDX-License-Identifier: BSD-3-Clause
// The loop of a run, which is the same in the pipeline and in the baseline. For each iteration, it makes the iterate,
// updates the account, checks the convergence, and decides whether to stop. An IterateSink chooses the place of step k
// and processes the step: the pipeline's sink publishes it (producer/producer.hpp), the baseline's sink reduces it
// (producer/baseline.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "common/options/options.hpp"
#include "common/platform/error.hpp"
#include "common/platform/stop_flag.hpp"
#include "producer/account.hpp"
#include "producer/solver/convergence.hpp"
#include "producer/solver/solver.hpp"

namespace ringside {

/// How the loop ended, if it threw no exception.
enum class SolveEnd {
  kConverged,
  kIterationsDone,
  kDiverged,
  kBrokenDown,  // Solver::breakdown has the reason
  kInterrupted,
  kAnalyzerGone  // lost, stalled or failed: see Producer::claim_status
};

/// Step k when it is complete.
struct FinishedIterate {
  std::uint64_t iteration = 0;
  const void* payload = nullptr;  // the variables of the step (Solver::variables); it begins with x
  Change change;
  bool due = false;               // required by `--every`, or the last of `--iterations`
  std::int64_t generate_ns = 0;   // the duration of this iteration
  std::int64_t generated_ns = 0;  // CLOCK_MONOTONIC: the end of this iteration
};

/// The loop calls each function at most once per iteration, in its own thread. None of them may allocate.
class IterateSink {
 public:
  virtual ~IterateSink() = default;

  /// Returns the place for the payload of step k. previous: the payload of step k-1; due: as in FinishedIterate. If it
  /// returns null, the run ends with step k-1, and `finish` is called next.
  virtual void* place(std::uint64_t k, bool due, const void* previous) noexcept = 0;

  /// Takes step k, which is finite. Its payload stays in place until the next iteration has read it.
  virtual void take(const FinishedIterate& iterate) noexcept = 0;

  /// Ends the run with `last`, the newest iterate that was taken (or the run's first iterate). how: kInterrupted if
  /// `place` has returned null. Returns how the run ended.
  virtual SolveEnd finish(const FinishedIterate& last, SolveEnd how) noexcept = 0;
};

/// The parts of a run. All of them must outlive the run.
struct SolveRun {
  Solver& solver;
  const SolveOptions& options;
  StopFlag stop;  // ends the run after the current iteration
  ProducerAccount& account;
  ConvergenceCheck& convergence;
};

/// The step before a run's first iteration: step 0, which has no scalars, or a kept step.
struct FirstStep {
  std::uint64_t iteration = 0;
  const void* payload = nullptr;
  std::span<const std::uint64_t> scalars{};  // the words of Solver::scalars
};

/// Runs the iterations that follow `first`. An iterate that diverged may hold NaN; it is passed neither to `take` nor
/// to `finish`. If an iteration broke down, the iterate before it is not passed to `finish` either.
SolveEnd solve(const SolveRun& run, const FirstStep& first, IterateSink& sink) noexcept;

ExitCode exit_code_of(SolveEnd end) noexcept;

/// RINGSIDE_OUTCOME_...
std::uint32_t outcome_of(SolveEnd end) noexcept;

/// Throws Error (exit code 2), with the reason, if the solver diverged or broke down.
void refuse_solution(const SolveRun& run, SolveEnd end);

}  // namespace ringside
