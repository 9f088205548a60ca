#include "producer/producer.hpp"

#include <cstring>

#include "common/platform/clock.hpp"

namespace ringside {
namespace {

template <class T>
void set(std::atomic<T>& figure, T value) noexcept {
  figure.store(value, std::memory_order_relaxed);
}

SolveEnd end_of(ClaimStatus status) noexcept {
  return status == ClaimStatus::kStopped ? SolveEnd::kInterrupted : SolveEnd::kAnalyzerGone;
}

}  // namespace

Producer::Producer(Solver& solver, HandoffWriter& handoff, const SolveOptions& options, WhenFull when_full,
                   const std::atomic<bool>& stop, ProducerAccount& account, Pulse& pulse)
    : solver_(solver),
      handoff_(handoff),
      options_(options),
      when_full_(when_full),
      stop_(stop),
      account_(account),
      pulse_(pulse),
      convergence_(options.tolerance, solver.growth_limit()),
      private_iterates_(solver) {}

SolveEnd Producer::run(std::optional<KeptIterate> kept) noexcept {
  Residual residual;
  std::uint64_t k = 1;
  if (kept) {
    residual = {kept->step.residual_l1, kept->step.residual_linf};
    k = kept->step.iteration + 1;
    set(account_.resumed_from, kept->step.iteration);
    if (const auto end = already_ended(k - 1, residual)) return *end;
    std::memcpy(private_iterates_.start(), kept->x(), solver_.rows() * sizeof(double));
    kept.reset();
  } else {
    solver_.start(private_iterates_.start());
  }
  const double* previous = private_iterates_.start();
  solver_.prepare(previous);
  set(account_.analyzer_cores_lent_ns, std::int64_t{0});  // preparing is not part of the account
  set(account_.begun_ns, now_ns());
  bool published = true;  // x_0 is not a step, and a kept iterate is in the ring

  for (;; ++k) {
    // x_k goes straight into shared memory if it is to be published and if there is room.
    double* next = nullptr;
    const bool due = k % options_.every == 0 || k == options_.last_iteration();
    claim_status_ = ClaimStatus::kOk;
    const Claimed claimed = due ? claim(next) : Claimed::kNone;
    if (claim_status_ == ClaimStatus::kFull) skipped_iteration_ = k;
    if (claimed == Claimed::kEnded) {
      const SolveEnd end = end_of(claim_status_);
      return published || end != SolveEnd::kInterrupted ? end : publish_last(k - 1, previous, residual, end);
    }
    if (claimed == Claimed::kNone) next = private_iterates_.target(previous);

    const std::int64_t begin = now_ns();
    residual = solver_.iterate(previous, next);
    const std::int64_t end = now_ns();
    previous = next;

    generate_unpublished_ns_ += end - begin;
    set(account_.generate_ns, account_.generate_ns.load(std::memory_order_relaxed) + (end - begin));
    set(account_.ended_ns, end);
    set(account_.iterations, k);
    set(account_.residual_l1, residual.l1);
    set(account_.residual_linf, residual.linf);
    const Progress state = convergence_.observe(residual);
    set(account_.residual_growth, convergence_.growth_per_iteration().value_or(-1));
    set(account_.iterations_left, to_figure(convergence_.iterations_left()));
    pulse_.beat(end);
    // A diverged iterate is not worth keeping, and may hold NaN: it stays unpublished.
    if (state == Progress::kDiverged) return SolveEnd::kDiverged;
    published = claimed == Claimed::kBuffer;
    if (published) publish(k, residual);

    const bool interrupted = stop_.load(std::memory_order_relaxed);
    if (state == Progress::kConverged || k == options_.last_iteration() || interrupted) {
      set(account_.converged, state == Progress::kConverged);
      const SolveEnd how = state == Progress::kConverged ? SolveEnd::kConverged
                           : interrupted                 ? SolveEnd::kInterrupted
                                                         : SolveEnd::kIterationsDone;
      return published ? how : publish_last(k, previous, residual, how);
    }
  }
}

// A kept iterate may have been the last one: it met the tolerance before the run was interrupted, or no more
// iterations were asked for.
std::optional<SolveEnd> Producer::already_ended(std::uint64_t iteration, const Residual& residual) noexcept {
  const bool converged = convergence_.observe(residual) == Progress::kConverged;
  if (!converged && iteration < options_.last_iteration()) return std::nullopt;
  const std::int64_t now = now_ns();
  set(account_.begun_ns, now);
  set(account_.ended_ns, now);
  set(account_.iterations, iteration);
  set(account_.residual_l1, residual.l1);
  set(account_.residual_linf, residual.linf);
  set(account_.converged, converged);
  return converged ? SolveEnd::kConverged : SolveEnd::kIterationsDone;
}

Producer::Claimed Producer::claim(double*& buffer) noexcept {
  const Claim claim = when_full_ == WhenFull::kWait ? handoff_.claim() : handoff_.try_claim();
  claim_status_ = claim.status;
  set(account_.producer_idle_ns, handoff_.idle_ns());
  set(account_.steps_skipped, handoff_.skipped());
  if (claim.status == ClaimStatus::kOk) {
    buffer = claim.buffer;
    return Claimed::kBuffer;
  }
  return claim.status == ClaimStatus::kFull ? Claimed::kNone : Claimed::kEnded;
}

void Producer::publish(std::uint64_t iteration, const Residual& residual) noexcept {
  handoff_.publish({.iteration = iteration,
                    .residual_l1 = residual.l1,
                    .residual_linf = residual.linf,
                    .generate_ns = generate_unpublished_ns_});
  generate_unpublished_ns_ = 0;
  set(account_.steps_published, handoff_.published());
}

// Called if the last iteration was not due, or was skipped: its iterate is the only one that is copied.
SolveEnd Producer::publish_last(std::uint64_t iteration, const double* x, const Residual& residual,
                                SolveEnd end) noexcept {
  if (skipped_iteration_ == iteration) handoff_.take_back_skip();
  const Claim claim = handoff_.claim_last();
  set(account_.steps_skipped, handoff_.skipped());
  set(account_.producer_idle_ns, handoff_.idle_ns());
  claim_status_ = claim.status;
  if (claim.status != ClaimStatus::kOk) return end_of(claim.status);
  std::memcpy(claim.buffer, x, solver_.rows() * sizeof(double));
  publish(iteration, residual);
  return end;
}

}  // namespace ringside
