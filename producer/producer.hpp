// The producer's main loop: iterate, publish, account. The solver writes x_k straight into the buffer that the
// hand-off lends. Solver and hand-off do not depend on each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "common/handoff/handoff_writer.hpp"
#include "common/options/options.hpp"
#include "common/platform/pulse.hpp"
#include "producer/account.hpp"
#include "producer/matrix/array.hpp"
#include "producer/solver/convergence.hpp"
#include "producer/solver/solver.hpp"

namespace ringside {

/// How the loop ended, apart from an exception.
enum class SolveEnd {
  kConverged,
  kIterationsDone,
  kDiverged,
  kInterrupted,
  kAnalyzerGone  // lost, stalled or failed: see `claim_status`
};

/// Two private vectors for the iterates that are not published, and x_0; pages that are never written cost no memory.
class PrivateIterates {
 public:
  explicit PrivateIterates(const Solver& solver)
      : first_(solver.rows()), second_(solver.may_overwrite_previous() ? 0 : solver.rows()) {}

  double* start() noexcept { return first_.data(); }

  /// Where x_k may go when x_{k-1} lies at `previous`.
  double* target(const double* previous) noexcept {
    return second_.empty() || previous != first_.data() ? first_.data() : second_.data();
  }

 private:
  Array<double> first_;
  Array<double> second_;
};

/// Runs iterations 1, 2, 3 ... of `solver`, or those after the iterate from which a kept run continues, and publishes
/// each `options.every`-th iterate and the last one. `stop` ends it after the current iteration; the iterate made by
/// then is published.
class Producer {
 public:
  Producer(Solver& solver, HandoffWriter& handoff, const SolveOptions& options, WhenFull when_full,
           const std::atomic<bool>& stop, ProducerAccount& account, Pulse& pulse);

  /// kept: the iterate to continue from; it is freed once it is copied.
  SolveEnd run(std::optional<KeptIterate> kept = std::nullopt) noexcept;

  /// After kDiverged: what to tell the user.
  const ConvergenceCheck& convergence() const noexcept { return convergence_; }
  /// After kAnalyzerGone: the argument for HandoffWriter::failure.
  ClaimStatus claim_status() const noexcept { return claim_status_; }

 private:
  enum class Claimed { kBuffer, kNone, kEnded };
  Claimed claim(double*& buffer) noexcept;
  std::optional<SolveEnd> already_ended(std::uint64_t iteration, const Residual& residual) noexcept;
  void publish(std::uint64_t iteration, const Residual& residual) noexcept;
  SolveEnd publish_last(std::uint64_t iteration, const double* x, const Residual& residual, SolveEnd end) noexcept;

  Solver& solver_;
  HandoffWriter& handoff_;
  SolveOptions options_;
  WhenFull when_full_;
  const std::atomic<bool>& stop_;
  ProducerAccount& account_;
  Pulse& pulse_;
  ConvergenceCheck convergence_;
  PrivateIterates private_iterates_;
  ClaimStatus claim_status_ = ClaimStatus::kOk;
  std::uint64_t skipped_iteration_ = 0;       // the last skipped one
  std::int64_t generate_unpublished_ns_ = 0;  // generate time since the last published step
};

}  // namespace ringside
