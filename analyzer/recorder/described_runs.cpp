// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/described_runs.hpp"

#include <algorithm>

#include "common/records/record_message.hpp"

namespace ringside {

void DescribedRuns::clear() {
  *this = {};
}

void DescribedRuns::know(const std::string& run_id, const SharedLayout& layout) {
  if (layout) known_.emplace(Key(run_id, layout->hash()), layout);
}

void DescribedRuns::add(const wire::Record& record) {
  const auto describes = [&](const std::string& run_id, const SharedLayout& layout) {
    if (!layout) return;
    know(run_id, layout);
    described_[Key(run_id, layout->hash())] = record.seq();
  };
  if (record.has_run_started()) describes(record.run_started().run_id(), layout_of(record.run_started()));
  if (record.has_run_described()) describes(record.run_described().run_id(), layout_of(record.run_described()));
  if (!record.has_step() || !record.step().has_results()) return;
  const wire::StepRecord& step = record.step();
  if (last_used_ == nullptr || last_key_.second != step.results().catalogue() || last_key_.first != step.run_id()) {
    last_key_ = {step.run_id(), step.results().catalogue()};
    last_used_ = &used_[last_key_];
  }
  *last_used_ = record.seq();
}

void DescribedRuns::expect(const std::string& run_id, std::uint64_t catalogue, std::uint64_t seq) {
  used_[Key(run_id, catalogue)] = seq;
}

void DescribedRuns::appended(std::uint64_t first_seq_of_log) {
  if (first_seq_of_log == first_seq_) return;
  first_seq_ = first_seq_of_log;
  const auto is_elsewhere = [this](const auto& one) { return one.second < first_seq_; };
  std::erase_if(used_, is_elsewhere);
  std::erase_if(described_, is_elsewhere);
  last_used_ = nullptr;
}

std::vector<wire::RunDescribed> DescribedRuns::lacking() {
  std::vector<wire::RunDescribed> lacking;
  for (const auto& [key, seq] : used_) {
    const auto found = known_.find(key);
    if (found == known_.end() || !described_.emplace(key, seq).second) continue;
    lacking.push_back(describe_run(key.first, *found->second));
  }
  return lacking;
}

}  // namespace ringside
