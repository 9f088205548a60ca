// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/recorder/described_runs.hpp"

#include <algorithm>
#include <optional>

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
  if (const std::optional<Id128> run = id_of(step.run_id())) add_step(*run, step.results().catalogue(), record.seq());
}

void DescribedRuns::add_step(const Id128& run_id, std::uint64_t catalogue, std::uint64_t seq) {
  if (last_used_ == nullptr || last_catalogue_ != catalogue || last_run_ != run_id) {
    last_run_ = run_id;
    last_catalogue_ = catalogue;
    last_used_ = &used_[Key(bytes_of(run_id), catalogue)];
  }
  *last_used_ = seq;
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
