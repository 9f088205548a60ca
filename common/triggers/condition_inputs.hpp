// SPDX-License-Identifier: BSD-3-Clause
// The numbers that conditions read: results of the step by name, and what is known of the step itself; each as it is
// now and as it was at the step before. Only those that a condition names are taken from a step.
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

/// What a condition may name beside results.
struct StepFacts {
  std::uint64_t iteration = 0;
  std::uint64_t step = 0;
  double time_s = 0;         // since the first step was begun
  double producer_idle = 0;  // shares, 0 to 1
  double analyzer_idle = 0;
};

class ConditionInputs {
 public:
  struct Value {
    double number = 0;
    bool present = false;
    // An integer beyond 2^53 may lie between two doubles: these, of which `number` is the nearer one. Else both are `number`.
    double low = 0;
    double high = 0;
    bool is_exact() const noexcept { return low == high || number != number; }
  };
  /// A number and what it was. Its address does not change.
  struct Input {
    Value now;
    Value before;
  };

  explicit ConditionInputs(SharedLayout layout) : layout_(std::move(layout)) {}
  ConditionInputs(const ConditionInputs&) = delete;
  ConditionInputs& operator=(const ConditionInputs&) = delete;

  /// The input of that name, from now on taken from each step. Null: there is none; `why_not` then becomes what a user
  /// needs to know.
  Input* find(std::string_view name, std::string& why_not);

  /// What an input, the sum of results, would be with the values of another step.
  Value of(const Input& input, std::span<const std::uint64_t> words) const noexcept;

  /// Takes the values of a step; those of the last one become the ones before. words: of a step, as the layout places
  /// them. Allocates nothing.
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
  std::deque<Source> sources_;  // whose elements stay where they are
};

}  // namespace ringside
