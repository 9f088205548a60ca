// SPDX-License-Identifier: BSD-3-Clause
// The numbers that conditions read: results of the step by name, and facts about the step itself; each at this step and
// at the step before. Only numbers that a condition names are taken from a step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/records/record_layout.hpp"

namespace ringside {

/// What a condition may name besides results.
struct StepFacts {
  std::uint64_t iteration = 0;
  std::uint64_t step = 0;
  double time_s = 0;         // since the first step began
  double producer_idle = 0;  // shares, 0 to 1
  double analyzer_idle = 0;
};

class ConditionInputs {
 public:
  struct Value {
    double number = 0;
    bool present = false;
    // An integer beyond 2^53 may lie between these two doubles; `number` is the nearer. Else both equal `number`.
    double low = 0;
    double high = 0;
    bool is_exact() const noexcept { return low == high || number != number; }
  };
  /// A number at this step and at the step before. Its address does not change.
  struct Input {
    Value now;
    Value before;
  };

  explicit ConditionInputs(SharedLayout layout) : layout_(std::move(layout)) {}
  ConditionInputs(const ConditionInputs&) = delete;
  ConditionInputs& operator=(const ConditionInputs&) = delete;

  /// The input with that name, taken from each step from now on. Null if there is none; `why_not` is then the reason
  /// for the user.
  Input* find(std::string_view name, std::string& why_not);

  /// The value of an input for another step's values. input: a sum of results.
  Value of(const Input& input, std::span<const std::uint64_t> words) const noexcept;

  /// Takes the values of a step; the current values become those of the step before. words: of the step, in the order
  /// of the layout. Allocates nothing.
  void take(std::span<const std::uint64_t> words, const StepFacts& facts) noexcept;

 private:
  enum class Fact : std::uint8_t { kNone, kIteration, kStep, kTime, kProducerIdle, kAnalyzerIdle };
  struct Source {
    std::string name;
    Fact fact = Fact::kNone;
    std::vector<RecordedResult> results;  // without a fact: their sum
    Input input;
  };

  std::vector<RecordedResult> results_named(std::string_view name, std::string& why_not) const;
  std::string names() const;
  static double fact(Fact which, const StepFacts& facts) noexcept;

  SharedLayout layout_;
  std::deque<Source> sources_;  // a deque: addresses of elements do not change
};

}  // namespace ringside
