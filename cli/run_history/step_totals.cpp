// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run_history/step_totals.hpp"

#include <algorithm>

namespace ringside {

void StepTotals::add(const wire::RecordsMissing& missing) {
  if (missing.steps() == 0) return;
  // Older versions did not write first_commit_seq; then the missing steps are assumed to follow the known steps.
  if (missing.first_commit_seq() == 0 && named_to == 0) {
    sums.records_missing += missing.steps();
    return;
  }
  const std::uint64_t first = missing.first_commit_seq() != 0 ? missing.first_commit_seq() : named_to + 1;
  if (named_to == 0) counted_to = named_to = first - 1;
  const std::uint64_t last = first + missing.steps() - 1;
  if (last <= named_to) return;  // these missing steps were already counted
  sums.records_missing += last - named_to;
  named_to = last;
}

bool StepTotals::add(const wire::StepRecord& step) {
  if (named_to > 0 && step.commit_seq() <= counted_to) return false;  // a RecordsMissing has already counted this step
  if (sums.steps == 0) steps_before = step.step();
  if (named_to == 0) counted_to = named_to = step.commit_seq() - 1;
  // The steps between the last recorded step and this step have no record, whether or not a RecordsMissing named them.
  // Steps after this one may still be recorded, even if a RecordsMissing named them.
  sums.records_missing -= named_to - counted_to;
  sums.records_missing += step.commit_seq() - counted_to - 1;
  counted_to = step.commit_seq();
  named_to = std::max(named_to, counted_to);
  sums.records_missing += named_to - counted_to;
  ++sums.steps;
  sums.steps_skipped += step.skipped_before();
  sums.leases_broken += step.broke_lease() ? 1u : 0u;
  sums.generate_ns += step.generate_ns();
  sums.producer_idle_ns += step.producer_idle_ns();
  sums.analyzer_idle_ns += step.analyzer_idle_ns();
  sums.transfer_ns += step.transfer_ns();
  sums.commit_ns += step.commit_ns();
  sums.analyze_ns += step.analyze_ns();
  sums.record_ns += step.record_ns();
  sums.bytes_transferred += step.bytes_transferred();
  if (step.rebuilt()) ++sums.rebuilt;
  steps_persisted = std::max(steps_persisted, step.steps_persisted());
  return true;
}

}  // namespace ringside
