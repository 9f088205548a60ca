// SPDX-License-Identifier: BSD-3-Clause
// A condition over the results of a step (docs/use/questions.md), evaluated by muParser. Names are replaced before
// muParser parses the text: names of results may contain dots and minus signs, and `prev(NAME)` is not a function of a
// number.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/triggers/condition_inputs.hpp"

namespace ringside {

enum class Truth {
  kFalse,
  kTrue,
  // The condition divides by zero, takes a root or logarithm that does not exist, or has an integer beyond 2^53 between
  // two doubles that may give different truths.
  kUndefined
};

/// Used by one thread. Reads the values of `inputs`, which outlive this object.
class Condition {
 public:
  /// Throws Error (exit code 2), which begins with `where`, if the text is not a condition or has an unknown name.
  Condition(std::string_view text, ConditionInputs& inputs, const std::string& where);
  ~Condition();
  Condition(Condition&&) noexcept;

  /// For the last values that the inputs took. kFalse if any of them is absent.
  Truth evaluate() noexcept;

 private:
  Truth evaluate_at_numbers(bool finite) noexcept;

  struct Parser;
  std::unique_ptr<Parser> parser_;  // muParser's header stays out of this one
  std::vector<const ConditionInputs::Value*> used_;
  std::vector<double> numbers_;  // of used_; muParser holds their addresses
  bool jumps_ = false;           // its truth between two neighbouring inputs may differ from that at both
};

}  // namespace ringside
