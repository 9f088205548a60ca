// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/result_names.hpp"

#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "common/records/described_run.hpp"
#include "common/records/older_results.hpp"
#include "common/records/results_message.hpp"

namespace ringside {
namespace {

StepResults results_before_names(const wire::StepRecord& step) {
  std::optional<Reductions> reductions;
  if (step.has_reductions()) {
    const wire::Reductions& r = step.reductions();
    reductions.emplace();
    reductions->sum = r.sum();
    reductions->mean = r.mean();
    reductions->min = r.min();
    reductions->max = r.max();
    reductions->l1 = r.l1();
    reductions->l2 = r.l2();
    reductions->linf = r.linf();
    reductions->has_change = r.has_change() ? 1 : 0;
    reductions->change_l1 = r.change_l1();
    reductions->change_l2 = r.change_l2();
    reductions->change_linf = r.change_linf();
    reductions->non_finite = r.non_finite();
  }
  return older_results(reductions, step.rebuilt(), step.residual_l1(), step.residual_linf());
}

}  // namespace

void ResultNames::learn(const wire::Record& record) {
  if (record.has_run_started()) learn(record.run_started());
  if (record.has_run_described()) learn(layout_of(record.run_described()));
}

void ResultNames::learn(const wire::RunStarted& started) {
  learn(layout_of(started));
}

void ResultNames::learn(SharedLayout layout) {
  if (!layout) return;
  const std::uint64_t hash = layout->hash();
  if (!layouts_.emplace(hash, std::move(layout)).second) return;
  oldest_first_.push_back(hash);
  if (oldest_first_.size() <= kMost) return;
  layouts_.erase(oldest_first_.front());
  oldest_first_.pop_front();
}

bool ResultNames::knows(const wire::StepRecord& step) const {
  return !step.has_results() || layouts_.contains(step.results().catalogue());
}

StepResults ResultNames::results(const wire::StepRecord& step) const {
  if (!step.has_results()) return results_before_names(step);
  const std::optional<ResultColumns> columns = columns_of(step.results());
  if (!columns) return {};
  const auto found = layouts_.find(step.results().catalogue());
  if (found == layouts_.end() || found->second->counts() != columns->counts) return {columns->counts, columns->words};
  return {found->second, columns->words};
}

}  // namespace ringside
