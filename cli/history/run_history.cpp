// SPDX-License-Identifier: BSD-3-Clause
#include "cli/history/run_history.hpp"

#include <algorithm>
#include <utility>

#include "common/records/described_run.hpp"

namespace ringside {

void HandOffTimes::add(std::int64_t ns) noexcept {
  histogram_.add(ns);
  const auto bound = std::lower_bound(kBoundsNs.begin(), kBoundsNs.end(), ns);
  ++counts_[static_cast<std::size_t>(bound - kBoundsNs.begin())];
  ++count_;
  sum_ns_ += std::max<std::int64_t>(ns, 0);
}

std::uint64_t HandOffTimes::at_most(std::size_t i) const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t bin = 0; bin <= i; ++bin) sum += counts_[bin];
  return sum;
}

void RunHistory::add(const wire::Record& record) {
  if (record.seq() <= newest_seq_ && run_) run_->series = StepSeries();
  newest_seq_ = record.seq();
  learn(record);
  switch (record.what_case()) {
    case wire::Record::kStep: add(record, record.step()); break;
    case wire::Record::kRunStarted: {
      RunView& run = run_of(record.run_started().run_id());
      run.started = record.run_started();
      run.layout = layout_of(record.run_started());
      run.ended.reset();
      break;
    }
    case wire::Record::kRunEnded: {
      RunView& run = run_of(record.run_ended().run_id());
      run.ended = record.run_ended();
      run.steps_persisted = std::max(run.steps_persisted, record.run_ended().steps_persisted());
      break;
    }
    case wire::Record::kAnalyzerStarted: analyzer_ = record.analyzer_started(); break;
    case wire::Record::kRecordsMissing: add(record.records_missing()); break;
    default:  // a kind this version does not know
      break;
  }
}

void RunHistory::add(const wire::Status& status) {
  names_.learn(status.run());
  if (!run_ || status.run().run_id() != run_->run_id) return;
  if (!run_->started) run_->started = status.run();
  // A status and a record both count per attachment: their counts can be compared only within the same attachment.
  if (status.attached() && !run_->ended) {
    run_->steps_persisted = std::max(run_->steps_persisted, status.steps_persisted());
  }
}

RunView& RunHistory::run_of(const std::string& run_id) {
  if (!run_ || run_->run_id != run_id) {
    run_.emplace();
    run_->run_id = run_id;
  }
  return *run_;
}

void RunHistory::add(const wire::RecordsMissing& missing) {
  RunView& run = run_of(missing.run_id());
  if (missing.steps() == 0) return;
  // Older versions did not write first_commit_seq: assume that the missing steps follow the known ones.
  if (missing.first_commit_seq() == 0 && run.named_to == 0) {
    run.sums.records_missing += missing.steps();
    return;
  }
  const std::uint64_t first = missing.first_commit_seq() != 0 ? missing.first_commit_seq() : run.named_to + 1;
  if (run.named_to == 0) run.counted_to = run.named_to = first - 1;
  const std::uint64_t last = first + missing.steps() - 1;
  if (last <= run.named_to) return;  // they have been counted already
  run.sums.records_missing += last - run.named_to;
  run.named_to = last;
}

void RunHistory::add(const wire::Record& record, const wire::StepRecord& step) {
  RunView& run = run_of(step.run_id());
  StepSums& sums = run.sums;
  StepResults results = names_.results(step);
  run.series.add(point_of(record, results));
  if (run.named_to > 0 && step.commit_seq() <= run.counted_to) return;  // a RecordsMissing has counted it already
  if (sums.steps == 0) run.steps_before = step.step();
  if (run.named_to == 0) run.counted_to = run.named_to = step.commit_seq() - 1;
  // No record exists for the steps between the last one and this one, whether a RecordsMissing named them or not.
  // Records of named steps beyond this one may still arrive.
  sums.records_missing -= run.named_to - run.counted_to;
  sums.records_missing += step.commit_seq() - run.counted_to - 1;
  run.counted_to = step.commit_seq();
  run.named_to = std::max(run.named_to, run.counted_to);
  sums.records_missing += run.named_to - run.counted_to;
  ++sums.steps;
  sums.steps_skipped += step.skipped_before();
  sums.leases_broken += step.broke_lease() ? 1u : 0u;
  sums.generate_ns += step.generate_ns();
  sums.producer_idle_ns += step.producer_idle_ns();
  sums.analyzer_idle_ns += step.analyzer_idle_ns();
  sums.transfer_ns += step.transfer_ns();
  sums.commit_ns += step.commit_ns();
  sums.analyze_ns += step.analyze_ns();
  sums.bytes_transferred += step.bytes_transferred();
  if (step.rebuilt()) {
    ++sums.rebuilt;
  } else {
    run.hand_off.add(step.hand_off_ns());
  }
  run.steps_persisted = std::max(run.steps_persisted, step.steps_persisted());
  run.last = step;
  if (results.layout()) run.layout = results.layout();
  run.last_results = std::move(results);
  if (step.steps_committed() == 0) run.last.set_steps_committed(step.step() + 1);  // rebuilt: the ring lacks it
  run.last_unix_ns = record.unix_ns();
}

}  // namespace ringside
