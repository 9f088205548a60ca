// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/run_status.hpp"

#include "common/records/record_message.hpp"

namespace ringside {

void RunStatus::begin(const wire::RunStarted& run, const SharedLayout& layout) {
  status_.Clear();
  layout_ = layout;
  last_.reset();
  hand_off_ = {};
  attached_ = true;
  *status_.mutable_run() = run;
  status_.set_steps_committed(run.from_step());
  if (run.has_frozen_at_iteration()) status_.set_frozen_at_iteration(run.frozen_at_iteration());
}

void RunStatus::add(const wire::Mark& mark) {
  for (const std::string& action : mark.action()) {
    if (action == "freeze" && !status_.has_frozen_at_iteration()) status_.set_frozen_at_iteration(mark.iteration());
  }
}

void RunStatus::add(const StepFigures& step, std::span<const std::uint64_t> values) {
  last_ = step;
  last_values_.assign(values.begin(), values.end());
  status_.set_steps_committed(step.steps_committed);
  status_.set_steps_persisted(step.steps_persisted);
  status_.set_steps_skipped(status_.steps_skipped() + step.step.skipped_before);
  status_.set_generate_ns(status_.generate_ns() + step.step.generate_ns);
  status_.set_producer_idle_ns(status_.producer_idle_ns() + step.step.producer_idle_ns);
  status_.set_analyzer_idle_ns(status_.analyzer_idle_ns() + step.analyzer_idle_ns);
  status_.set_transfer_ns(status_.transfer_ns() + step.transfer_ns);
  status_.set_commit_ns(status_.commit_ns() + step.commit_ns);
  status_.set_analyze_ns(status_.analyze_ns() + step.analyze_ns);
  status_.set_record_ns(status_.record_ns() + step.record_ns);
  status_.set_bytes_transferred(status_.bytes_transferred() + step.bytes_transferred);
  status_.set_guarded_commit_seq(step.guarded_commit_seq);
  hand_off_.add(step.hand_off_ns);
}

void RunStatus::end(const wire::RunEnded& ended) {
  attached_ = false;
  *status_.mutable_ended() = ended;
  status_.set_steps_committed(ended.steps_committed());
  status_.set_steps_persisted(ended.steps_persisted());
}

void RunStatus::describe(wire::Status& status) const {
  status.MergeFrom(status_);
  if (last_) fill(*status.mutable_last(), *last_, *layout_, last_values_);
  status.set_attached(attached_);
  status.set_hand_off_p50_ns(static_cast<std::int64_t>(hand_off_.percentile(0.50)));
  status.set_hand_off_p99_ns(static_cast<std::int64_t>(hand_off_.percentile(0.99)));
  status.set_hand_off_max_ns(static_cast<std::int64_t>(hand_off_.max()));
}

}  // namespace ringside
