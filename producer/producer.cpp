// SPDX-License-Identifier: BSD-3-Clause
#include "producer/producer.hpp"

#include <cstring>
#include <span>

#include "common/platform/clock.hpp"

namespace ringside {

Producer::Producer(const SolveRun& run, HandoffWriter& handoff, WhenFull when_full, Pulse& pulse)
    : run_(run),
      handoff_(handoff),
      when_full_(when_full),
      pulse_(pulse),
      private_iterates_(run.solver),
      scalars_(run.solver.scalars().size()) {}

SolveEnd Producer::run(std::optional<KeptStep> kept) noexcept {
  void* const payload = private_iterates_.start();
  if (!kept) {
    run_.solver.start(payload);
    return solve(run_, {.payload = payload}, *this);
  }
  const std::uint64_t iteration = kept->iteration;
  const std::span<const std::uint64_t> scalars(kept->scalars.words, scalars_.size());
  set(run_.account.resumed_from, iteration);
  if (const auto end = already_ended(iteration, run_.solver.change_of(scalars))) return *end;
  std::memcpy(payload, kept->payload(), private_iterates_.bytes());
  return solve(run_, {.iteration = iteration, .payload = payload, .scalars = scalars}, *this);
}

// A kept iterate may have been the last one: it met the tolerance before the run was interrupted, or no more
// iterations were asked for.
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

// x_k goes straight into shared memory if it is to be published and if there is room.
void* Producer::place(std::uint64_t k, bool due, const void* previous) noexcept {
  in_buffer_ = false;
  if (!due) return private_iterates_.target(previous);
  const Claim claim = when_full_ == WhenFull::kWait ? handoff_.claim() : handoff_.try_claim();
  claim_status_ = claim.status;
  set(run_.account.producer_idle_ns, handoff_.idle_ns());
  set(run_.account.steps_skipped, handoff_.skipped());
  in_buffer_ = claim.status == ClaimStatus::kOk;
  if (in_buffer_) return claim.payload;
  if (claim.status != ClaimStatus::kFull) return nullptr;
  skipped_iteration_ = k;
  return private_iterates_.target(previous);
}

void Producer::take(const FinishedIterate& iterate) noexcept {
  pulse_.beat(iterate.generated_ns);
  generate_unpublished_ns_ += iterate.generate_ns;
  published_ = in_buffer_;
  if (published_) publish(iterate);
}

SolveEnd Producer::finish(const FinishedIterate& last, SolveEnd how) noexcept {
  switch (claim_status_) {
    case ClaimStatus::kOk:
    case ClaimStatus::kFull:
    case ClaimStatus::kStopped: return published_ ? how : publish_last(last, how);
    case ClaimStatus::kAnalyzerLost:
    case ClaimStatus::kAnalyzerStalled:
    case ClaimStatus::kAnalyzerFailed: break;
  }
  return SolveEnd::kAnalyzerGone;
}

void Producer::publish(const FinishedIterate& iterate) noexcept {
  const std::span<const std::uint64_t> further = run_.solver.further_scalars();
  scalars_[0] = iterate.change.l1;
  scalars_[1] = iterate.change.linf;
  for (std::size_t s = 0; s < further.size(); ++s) scalars_[2 + s].word = further[s];
  handoff_.publish({.iteration = iterate.iteration, .generate_ns = generate_unpublished_ns_}, scalars_);
  generate_unpublished_ns_ = 0;
  set(run_.account.steps_published, handoff_.published());
}

// Called if the last iteration was not due, or was skipped: its iterate is the only one that is copied.
SolveEnd Producer::publish_last(const FinishedIterate& last, SolveEnd how) noexcept {
  if (skipped_iteration_ == last.iteration) handoff_.take_back_skip();
  const Claim claim = handoff_.claim_last();
  set(run_.account.steps_skipped, handoff_.skipped());
  set(run_.account.producer_idle_ns, handoff_.idle_ns());
  claim_status_ = claim.status;
  if (claim.status == ClaimStatus::kStopped) return SolveEnd::kInterrupted;
  if (claim.status != ClaimStatus::kOk) return SolveEnd::kAnalyzerGone;
  std::memcpy(claim.payload, last.payload, private_iterates_.bytes());
  publish(last);
  return how;
}

}  // namespace ringside
