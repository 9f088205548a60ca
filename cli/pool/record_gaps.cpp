// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/record_gaps.hpp"

#include <algorithm>
#include <iterator>

namespace ringside {

void RecordGaps::add(const wire::Record& record) {
  if (record.has_records_missing()) {
    const wire::RecordsMissing& missing = record.records_missing();
    steps_ += missing.steps();
    if (missing.first_iteration() != 0) {
      first_iteration_ =
          first_iteration_ == 0 ? missing.first_iteration() : std::min(first_iteration_, missing.first_iteration());
      last_iteration_ = std::max(last_iteration_, missing.last_iteration());
    }
    if (missing.first_commit_seq() == 0) return;
    gaps_[missing.run_id()][missing.first_commit_seq()].last = missing.first_commit_seq() + missing.steps() - 1;
  } else if (record.has_step() && !gaps_.empty()) {
    const auto run = gaps_.find(record.step().run_id());
    if (run == gaps_.end()) return;
    const std::uint64_t commit_seq = record.step().commit_seq();
    auto gap = run->second.upper_bound(commit_seq);
    if (gap == run->second.begin()) return;
    gap = std::prev(gap);
    if (commit_seq <= gap->second.last && gap->second.recorded.insert(commit_seq).second) --steps_;
  }
}

}  // namespace ringside
