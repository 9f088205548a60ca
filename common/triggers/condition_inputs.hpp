// SPDX-License-Identifier: BSD-3-Clause
// The numbers that conditions read: results of the step by name, and facts about the step itself, each for this step
// and for the previous one. Only numbers that occur in a condition are taken from a step.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/records/record_layout.hpp"

namespace ringside {

/// Facts about a step whose names a condition may use, in addition to results.
struct StepFacts {
  std::uint64_t iteration = 0;
  std::uint64_t step = 0;
  double time_s = 0;         // since the beginning of the first step
  double producer_idle = 0;  // both idle values are shares from 0 to 1
  double analyzer_idle = 0;
};

class ConditionInputs {
 public:
  struct Value {
    double number = 0;
    bool present = false;
    // The two doubles between which an integer beyond 2^53 may lie; `number` is the nearer of them. Otherwise both are
    // equal to `number`.
    double low = 0;
    double high = 0;
    bool is_exact() const noexcept { return low == high || number != number; }
  };
  /// A number for this step and for the previous one. The address of this object does not change.
  struct Input {
    Value now;
    Value before;
  };

  explicit ConditionInputs(SharedLayout layout) : layout_(std::move(layout)) {}
  ConditionInputs(const ConditionInputs&) = delete;
  ConditionInputs& operator=(const ConditionInputs&) = delete;

  /// The input with that name, which `take` sets for each step from now on. Null if there is no such input; `why_not`
  /// is then the reason for the user.
  Input* find(std::string_view name, std::string& why_not);

  /// The value that an input would have for the values of another step. input: a sum of results.
  Value of(const Input& input, std::span<const std::uint64_t> words) const noexcept;

  /// Takes the values of a step; the current values become those of the previous step. words: the words of the step, in
  /// the order of the layout. Allocates no memory.
  void take(std::span<const std::uint64_t> words, const StepFacts& facts) noexcept;

 private:
  enum class Fact : std::uint8_t { kNone, kIteration, kStep, kTime, kProducerIdle, kAnalyzerIdle };
  struct Source {
    std::string name;
    Fact fact = Fact::kNone;
    std::vector<RecordedResult> results;  // if the input is not a fact: results whose sum is taken
    Input input;
  };

  std::vector<RecordedResult> results_named(std::string_view name, std::string& why_not) const;
  std::string names() const;
  static double fact(Fact which, const StepFacts& facts) noexcept;

  SharedLayout layout_;
  std::deque<Source> sources_;  // a deque, because the addresses of elements must not change
};

}  // namespace ringside
