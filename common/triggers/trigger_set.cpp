// SPDX-License-Identifier: BSD-3-Clause
#include "common/triggers/trigger_set.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

/// Calls `visit` with the index of each bit that is set.
template <class Visit>
void for_each_bit(std::uint64_t bits, const Visit& visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<std::size_t>(std::countr_zero(bits)));
}

}  // namespace

std::vector<TriggerSpec> parse_triggers(const std::vector<std::string>& triggers, const std::string& on_non_finite) {
  if (triggers.size() > kMostTriggers) {
    throw usage_error("--trigger: found {} triggers, expected {} at most", triggers.size(), kMostTriggers);
  }
  std::vector<TriggerSpec> specs{parse_on_non_finite(on_non_finite)};
  for (const std::string& text : triggers) specs.push_back(parse_trigger(text));
  return specs;
}

TriggerSet::TriggerSet(std::vector<TriggerSpec> specs, const SharedLayout& layout)
    : specs_(std::move(specs)), inputs_(layout) {
  for (const TriggerSpec& spec : specs_) {
    std::optional<Trigger>& trigger = triggers_.emplace_back();
    if (spec.actions == 0) continue;
    if (spec.on_non_finite) {
      std::string none;  // ignored: a run of only states and integers has no such input
      non_finite_ = inputs_.find("non_finite", none);
      if (non_finite_ != nullptr) trigger.emplace();
    } else {
      trigger.emplace().condition.emplace(spec.condition, inputs_,
                                          fmt::format("{} '{}'", spec.option, shortened(spec.condition)));
    }
  }
}

void TriggerSet::Waiting::add(std::int64_t idle_ns, std::int64_t work_ns) noexcept {
  Step& oldest = steps_[next_];
  idle_ns_ += idle_ns - oldest.idle_ns;
  total_ns_ += idle_ns + work_ns - oldest.total_ns;
  oldest = {idle_ns, idle_ns + work_ns};
  next_ = (next_ + 1) % kSteps;
}

StepMarks TriggerSet::evaluate(std::span<const std::uint64_t> values, const StepFigures& figures) noexcept {
  const StepDescriptor& step = figures.step;
  producer_.add(step.producer_idle_ns, step.generate_ns);
  analyzer_.add(figures.analyzer_idle_ns, figures.transfer_ns + figures.commit_ns + figures.analyze_ns);
  if (begun_ns_ == 0) begun_ns_ = step.published_at_ns - step.generate_ns - step.producer_idle_ns;
  inputs_.take(values, {.iteration = step.iteration,
                        .step = step.step,
                        .time_s = static_cast<double>(step.published_at_ns - begun_ns_) * 1e-9,
                        .producer_idle = producer_.share(),
                        .analyzer_idle = analyzer_.share()});
  StepMarks marks;
  for (std::size_t t = 0; t < triggers_.size(); ++t) {
    if (!triggers_[t]) continue;
    Trigger& trigger = *triggers_[t];
    const Truth truth = trigger.condition ? trigger.condition->evaluate() : non_finite() ? Truth::kTrue : Truth::kFalse;
    if (truth == Truth::kTrue && !trigger.was_true) marks.fired |= std::uint64_t{1} << t;
    if (truth == Truth::kUndefined && !trigger.was_undefined) marks.undefined |= std::uint64_t{1} << t;
    trigger.was_true = truth == Truth::kTrue;
    trigger.was_undefined = trigger.was_undefined || truth == Truth::kUndefined;
  }
  return marks;
}

std::uint32_t TriggerSet::actions_of(std::uint64_t fired) const noexcept {
  std::uint32_t actions = 0;
  for_each_bit(fired, [&](std::size_t t) { actions |= specs_[t].actions; });
  return actions;
}

std::optional<double> TriggerSet::reply_of(std::uint64_t fired) const noexcept {
  std::optional<double> reply;
  for_each_bit(fired, [&](std::size_t t) {
    if ((specs_[t].actions & kReply) != 0) reply = specs_[t].reply;
  });
  return reply;
}

}  // namespace ringside
