// SPDX-License-Identifier: BSD-3-Clause
// All triggers of a run. They are evaluated once per step, to find out which triggers fire and which actions follow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/records/step_figures.hpp"
#include "common/triggers/condition.hpp"
#include "common/triggers/condition_inputs.hpp"
#include "common/triggers/step_marks.hpp"
#include "common/triggers/trigger_spec.hpp"

namespace ringside {

/// The specifications, in order: --on-non-finite, then each --trigger. Throws Error (exit code 2).
std::vector<TriggerSpec> parse_triggers(const std::vector<std::string>& triggers, const std::string& on_non_finite);

/// The triggers of one attached run. Only one thread may use them.
class TriggerSet {
 public:
  /// Throws Error (exit code 2) if a condition cannot be used with the results of `layout`.
  TriggerSet(std::vector<TriggerSpec> specs, const SharedLayout& layout);

  TriggerSet(const TriggerSet&) = delete;  // not copyable, because its conditions refer to its inputs
  TriggerSet& operator=(const TriggerSet&) = delete;

  const std::vector<TriggerSpec>& specs() const noexcept { return specs_; }

  /// Evaluates all conditions for the next step. values: the step's values, in the order of the layout. figures: the
  /// step's figures, with the times of producer and analyzer so far.
  StepMarks evaluate(std::span<const std::uint64_t> values, const StepFigures& figures) noexcept;

  /// The TriggerActions of all triggers that fired.
  std::uint32_t actions_of(std::uint64_t fired) const noexcept;
  /// The reply of the last trigger that fired and has one.
  std::optional<double> reply_of(std::uint64_t fired) const noexcept;

  /// Whether the last step has entries that are NaN or infinite. False if no result counts them.
  bool non_finite() const noexcept { return non_finite_ != nullptr && non_finite_->now.number > 0; }
  std::uint64_t non_finite_count() const noexcept {
    return non_finite() ? static_cast<std::uint64_t>(non_finite_->now.number) : 0;
  }
  /// Whether a step with these values has entries that are NaN or infinite.
  bool non_finite_in(std::span<const std::uint64_t> values) const noexcept {
    return non_finite_ != nullptr && inputs_.of(*non_finite_, values).number > 0;
  }
  /// Whether the last finite step is protected: --on-non-finite is not keep-going, and a result counts entries that are
  /// NaN or infinite.
  bool guards_finite() const noexcept { return non_finite_ != nullptr; }

 private:
  /// Computes the share of time spent waiting, over the last kSteps steps.
  class Waiting {
   public:
    void add(std::int64_t idle_ns, std::int64_t work_ns) noexcept;
    double share() const noexcept { return total_ns_ > 0 ? static_cast<double>(idle_ns_) / static_cast<double>(total_ns_) : 0; }

   private:
    static constexpr std::size_t kSteps = 16;
    struct Step {
      std::int64_t idle_ns = 0;
      std::int64_t total_ns = 0;
    };
    std::array<Step, kSteps> steps_{};
    std::size_t next_ = 0;
    std::int64_t idle_ns_ = 0;
    std::int64_t total_ns_ = 0;
  };
  struct Trigger {
    std::optional<Condition> condition;  // empty for --on-non-finite: every run evaluates it, so it needs no parser
    bool was_true = false;
    bool was_undefined = false;
  };

  std::vector<TriggerSpec> specs_;
  ConditionInputs inputs_;
  const ConditionInputs::Input* non_finite_ = nullptr;
  std::vector<std::optional<Trigger>> triggers_;  // empty for a trigger that is not evaluated
  Waiting producer_;
  Waiting analyzer_;
  std::int64_t begun_ns_ = 0;
};

}  // namespace ringside
