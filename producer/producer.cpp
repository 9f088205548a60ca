// SPDX-License-Identifier: BSD-3-Clause
#include "producer/producer.hpp"

#include <cstring>
#include <span>
#include <utility>

#include "common/platform/clock.hpp"

namespace ringside {

Producer::Producer(const SolveRun& run, StepWriter& writer, WhenFull when_full, Pulse& pulse)
    : run_(run),
      writer_(writer),
      when_full_(when_full),
      pulse_(pulse),
      private_iterates_(run.solver, writer.places()),
      scalars_(run.solver.scalars().size()) {}

SolveEnd Producer::run(const std::optional<ContinuedStep>& kept) {
  void* const payload = private_iterates_.start();
  if (!kept) {
    run_.solver.start(payload);
    return solve(run_, {.payload = payload}, *this);
  }
  set(run_.account.resumed_from, kept->iteration);
  if (const auto end = already_ended(kept->iteration, run_.solver.change_of(kept->scalars))) return *end;
  writer_.copy_kept(payload);
  return solve(run_, {.iteration = kept->iteration, .payload = payload, .scalars = kept->scalars}, *this);
}

// A kept iterate may have been the last one, because it met the tolerance before the run was interrupted, or because it
// reached the number of iterations.
std::optional<SolveEnd> Producer::already_ended(std::uint64_t iteration, const Change& change) noexcept {
  const bool converged = run_.convergence.observe(change.criterion) == Progress::kConverged;
  if (!converged && iteration < run_.options.last_iteration()) return std::nullopt;
  ProducerAccount& account = run_.account;
  const std::int64_t now = now_ns();
  set(account.begun_ns, now);
  set(account.ended_ns, now);
  set(account.iterations, iteration);
  set(account.residual_l1, change.l1);
  set(account.residual_linf, change.linf);
  set(account.criterion, change.criterion);
  set(account.converged, converged);
  return converged ? SolveEnd::kConverged : SolveEnd::kIterationsDone;
}

// If x_k is to be published and there is room, the solver writes it to shared memory directly. Relative to the first
// variable, the variables have the same places in the claimed buffer as in any payload (StepWriter::places).
void* Producer::place(std::uint64_t, bool due, const void* previous) noexcept {
  in_buffer_ = due && claim();
  if (due && !in_buffer_ && claim_status_ != RINGSIDE_FULL) return nullptr;
  // The solver has continued from x_{k-1}. If no buffer was free for x_{k-1}, it can no longer be published.
  if (std::exchange(was_full_, due && !in_buffer_)) {
    writer_.skip();
    take_counts();
  }
  return in_buffer_ ? writer_.buffer() : private_iterates_.target(previous);
}

bool Producer::claim() noexcept {
  claim_status_ = writer_.claim(when_full_);
  take_counts();
  return claim_status_ == RINGSIDE_OK;
}

void Producer::take(const FinishedIterate& iterate) noexcept {
  pulse_.beat(iterate.generated_ns);
  generate_unpublished_ns_ += iterate.generate_ns;
  published_ = in_buffer_;
  if (published_) publish(iterate);
}

SolveEnd Producer::finish(const FinishedIterate& last, SolveEnd how) noexcept {
  switch (claim_status_) {
    case RINGSIDE_OK:
    case RINGSIDE_FULL:
    case RINGSIDE_INTERRUPTED: return published_ ? how : publish_last(last, how);
    default: return SolveEnd::kAnalyzerGone;
  }
}

void Producer::publish(const FinishedIterate& iterate) noexcept {
  const std::span<const std::uint64_t> further = run_.solver.further_scalars();
  scalars_[0].f64 = iterate.change.l1;
  scalars_[1].f64 = iterate.change.linf;
  for (std::size_t s = 0; s < further.size(); ++s) scalars_[2 + s].i64 = static_cast<std::int64_t>(further[s]);
  writer_.publish(iterate.iteration, generate_unpublished_ns_, scalars_);
  generate_unpublished_ns_ = 0;
  take_counts();
}

void Producer::take_counts() noexcept {
  const ringside_counts counts = writer_.counts();
  set(run_.account.steps_published, counts.published);
  set(run_.account.steps_skipped, counts.skipped);
  set(run_.account.producer_idle_ns, counts.idle_ns);
}

// Called if the last iterate was not due, or no buffer was free for it. An iterate is copied only in these cases.
SolveEnd Producer::publish_last(const FinishedIterate& last, SolveEnd how) noexcept {
  claim_status_ = writer_.claim_last();
  take_counts();
  if (claim_status_ == RINGSIDE_INTERRUPTED) return SolveEnd::kInterrupted;
  if (claim_status_ != RINGSIDE_OK) return SolveEnd::kAnalyzerGone;
  auto* const to = static_cast<std::byte*>(writer_.buffer());
  const auto* const from = static_cast<const std::byte*>(last.payload);
  for (const VariablePlace& place : writer_.places()) {
    std::memcpy(to + place.offset, from + place.offset, place.bytes);
  }
  publish(last);
  return how;
}

}  // namespace ringside
