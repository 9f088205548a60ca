// SPDX-License-Identifier: BSD-3-Clause
#include "common/cohort/cohort_writer.hpp"

#include <utility>

#include "common/platform/clock.hpp"

namespace ringside {

CohortWriter::CohortWriter(UniqueFd payload, UniqueFd control, const PayloadGeometry& geometry, Cohort& cohort,
                           std::int64_t spin_ns)
    : geometry_(geometry),
      payload_(SharedMapping::join(std::move(payload), geometry.total_bytes())),
      control_mapping_(SharedMapping::join(std::move(control), sizeof(HandoffControl))),
      control_(reinterpret_cast<HandoffControl*>(control_mapping_.data())),
      cohort_(cohort),
      spin_ns_(spin_ns),
      coordination_(control_->published, control_->released) {
  cohort_.use(payload_, control_mapping_);
}

Claim CohortWriter::claim() noexcept {
  if (cohort_.has_failed()) return {ClaimStatus::kAnalyzerFailed, nullptr};
  const Claim granted{ClaimStatus::kOk, payload_.data() + geometry_.buffer_offset(next_step_)};
  claimed_ = true;
  if (next_step_ < geometry_.buffers) return granted;
  const std::uint64_t released_then = next_step_ + 1 - geometry_.buffers;
  if (coordination_.seen() >= released_then) return granted;
  const std::int64_t begin = now_ns();
  // If the analyzer dies or hangs, the first member detects this and fails the cohort, which ends this wait.
  const WaitLimits limits{.spin_ns = spin_ns_, .timeout_ns = kNever, .stop = cohort_.ends_wait(), .pulse = &cohort_};
  const WaitResult result = coordination_.wait_until(released_then, nobody_, limits);
  idle_ns_ += now_ns() - begin;
  if (result == WaitResult::kReached) return granted;
  claimed_ = false;
  return {cohort_.has_failed() ? ClaimStatus::kAnalyzerFailed : ClaimStatus::kStopped, nullptr};
}

void CohortWriter::publish(const StepReport& report) noexcept {
  if (!std::exchange(claimed_, false)) return;
  const std::uint64_t step = next_step_++;
  cohort_.arrive({.step = step,
                  .iteration = report.iteration,
                  .generate_ns = report.generate_ns,
                  .producer_idle_ns = idle_ns_ - idle_reported_ns_,
                  .published_at_ns = now_ns()});
  idle_reported_ns_ = idle_ns_;
}

}  // namespace ringside
