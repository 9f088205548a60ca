#include "analyzer/recorder/run_sums.hpp"

namespace ringside {

void RunSums::begin(const wire::RunStarted& run) {
  sums_.Clear();
  hand_off_ = {};
  attached_ = true;
  *sums_.mutable_run() = run;
  sums_.set_steps_committed(run.from_step());
}

void RunSums::add(const wire::StepRecord& step) {
  *sums_.mutable_last() = step;
  sums_.set_steps_committed(step.steps_committed());
  sums_.set_steps_persisted(step.steps_persisted());
  sums_.set_steps_skipped(sums_.steps_skipped() + step.skipped_before());
  sums_.set_generate_ns(sums_.generate_ns() + step.generate_ns());
  sums_.set_producer_idle_ns(sums_.producer_idle_ns() + step.producer_idle_ns());
  sums_.set_analyzer_idle_ns(sums_.analyzer_idle_ns() + step.analyzer_idle_ns());
  sums_.set_transfer_ns(sums_.transfer_ns() + step.transfer_ns());
  sums_.set_commit_ns(sums_.commit_ns() + step.commit_ns());
  sums_.set_analyze_ns(sums_.analyze_ns() + step.analyze_ns());
  sums_.set_bytes_transferred(sums_.bytes_transferred() + step.bytes_transferred());
  hand_off_.add(step.hand_off_ns());
}

void RunSums::end(const wire::RunEnded& ended) {
  attached_ = false;
  *sums_.mutable_ended() = ended;
  sums_.set_steps_committed(ended.steps_committed());
  sums_.set_steps_persisted(ended.steps_persisted());
}

void RunSums::describe(wire::Status& status) const {
  status.MergeFrom(sums_);
  status.set_attached(attached_);
  status.set_hand_off_p50_ns(static_cast<std::int64_t>(hand_off_.percentile(0.50)));
  status.set_hand_off_p99_ns(static_cast<std::int64_t>(hand_off_.percentile(0.99)));
  status.set_hand_off_max_ns(static_cast<std::int64_t>(hand_off_.max()));
}

}  // namespace ringside
