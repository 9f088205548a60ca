// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_history/run_history.hpp"

#include <algorithm>
#include <utility>

#include "common/records/record_message.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

std::string clipped(const std::string& text) {
  return std::string(utf8_prefix(text, RunMarks::kMostTextBytes));
}

}  // namespace

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

void RunMarks::add(const wire::Record& record) {
  const wire::Mark& said = record.mark();
  RunMark mark{.seq = record.seq(),
               .unix_ns = record.unix_ns(),
               .step = said.step(),
               .iteration = said.iteration(),
               .cause = clipped(said.cause()),
               .name = clipped(said.name()),
               .text = clipped(said.text()),
               .actions = {}};
  for (int i = 0; i < std::min(said.action_size(), kMostActions); ++i) mark.actions.push_back(clipped(said.action(i)));
  ++count_;
  if (first_.size() < kFirst) {
    first_.push_back(std::move(mark));
    return;
  }
  newest_.push_back(std::move(mark));
  if (newest_.size() > kNewest) newest_.pop_front();
}

std::vector<RunMark> RunMarks::kept() const {
  std::vector<RunMark> all = first_;
  all.insert(all.end(), newest_.begin(), newest_.end());
  return all;
}

void RunHistory::add(const wire::Record& record) {
  if (record.seq() <= newest_seq_ && run_) {
    run_->series = StepSeries();
    run_->marks = RunMarks();
    run_->analyses = AnalysisSeries();
  }
  newest_seq_ = record.seq();
  learn(record);
  switch (record.what_case()) {
    case wire::Record::kStep: add(record, record.step()); break;
    case wire::Record::kRunStarted: {
      RunView& run = run_of(record.run_started().run_id());
      run.started = record.run_started();
      run.layout = layout_of(record.run_started());
      run.frozen_at_iteration.reset();
      if (record.run_started().has_frozen_at_iteration()) {
        run.frozen_at_iteration = record.run_started().frozen_at_iteration();
      }
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
    case wire::Record::kRecordsMissing:
      run_of(record.records_missing().run_id()).StepTotals::add(record.records_missing());
      break;
    case wire::Record::kMark:
      if (RunView* run = current_run(record.mark().run_id())) {
        run->marks.add(record);
        const auto& actions = record.mark().action();
        const bool freezes = std::find(actions.begin(), actions.end(), "freeze") != actions.end();
        if (freezes && !run->frozen_at_iteration) run->frozen_at_iteration = record.mark().iteration();
      }
      break;
    case wire::Record::kAnalysisResults:
      if (RunView* run = current_run(record.analysis_results().run_id())) run->analyses.add(record);
      break;
    default:  // a kind of record that this version does not support
      break;
  }
}

void RunHistory::add(const wire::Status& status) {
  names_.learn(status.run());
  if (!run_ || status.run().run_id() != run_->run_id) return;
  if (!run_->started) run_->started = status.run();
  // Both the status and the records count steps per attachment, so their counts are compared only within the same
  // attachment.
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

void RunHistory::add(const wire::Record& record, const wire::StepRecord& step) {
  RunView& run = run_of(step.run_id());
  StepResults results = names_.results(step);
  run.series.add(point_of(record, results));
  if (!run.StepTotals::add(step)) return;
  if (!step.rebuilt()) run.hand_off.add(step.hand_off_ns());
  run.last = step;
  if (results.layout()) run.layout = results.layout();
  run.last_results = std::move(results);
  if (step.steps_committed() == 0) run.last.set_steps_committed(step.step() + 1);  // rebuilt: the ring lacks this count
  run.last_unix_ns = record.unix_ns();
}

}  // namespace ringside
