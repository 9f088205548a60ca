// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/result_names.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "common/handoff/step_descriptor.hpp"
#include "common/reductions/reduction_catalogue.hpp"
#include "common/reductions/reduction_words.hpp"

namespace ringside {
namespace {

/// Whether the reductions were never filled in, in which case all of them are 0. A step of zeros looks the same, but a
/// step without finite values does not: its min and max are infinite.
bool was_never_reduced(const std::optional<Reductions>& r, bool rebuilt) {
  return !r || (rebuilt && r->linf == 0 && r->non_finite == 0 && r->min == 0 && r->max == 0);
}

}  // namespace

void ResultNames::learn(SharedLayout layout) {
  if (!layout) return;
  const std::uint64_t hash = layout->hash();
  if (!layouts_.emplace(hash, std::move(layout)).second) return;
  oldest_first_.push_back(hash);
  if (oldest_first_.size() <= most_) return;
  layouts_.erase(oldest_first_.front());
  oldest_first_.pop_front();
}

StepResults ResultNames::named(StepResults values, std::uint64_t catalogue) const {
  if (const auto found = layouts_.find(catalogue); found != layouts_.end()) values.name_by(found->second);
  return values;
}

const SharedLayout& unnamed_results() {
  static const SharedLayout layout = std::make_shared<const RecordLayout>(Schema::x_only(1), x_only_catalogue(1));
  return layout;
}

StepResults older_results(const std::optional<Reductions>& reductions, bool rebuilt, double residual_l1,
                          double residual_linf) {
  const SharedLayout& layout = unnamed_results();
  std::vector<std::uint64_t> reduced;
  if (!was_never_reduced(reductions, rebuilt)) {
    reduced.resize(kXOnlyWords);
    to_words(*reductions, reduced);
  }
  StepWithScalars scalars;
  scalars.descriptor.residual_l1 = residual_l1;
  scalars.descriptor.residual_linf = residual_linf;
  std::vector<std::uint64_t> words(layout->words());
  layout->gather(reduced, &scalars, words);
  return {layout, words};
}

}  // namespace ringside
