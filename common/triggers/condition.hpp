// SPDX-License-Identifier: BSD-3-Clause
// A condition over the results of a step (docs/use/questions.md), evaluated by muParser. Names are replaced before
// muParser parses the text: result names may contain dots and minus signs, and `prev(NAME)` takes a name, not a number.
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
  // The condition divides by zero, takes a root or logarithm that does not exist, or uses an integer beyond 2^53 that
  // lies between two doubles for which the condition may have different truth values.
  kUndefined
};

/// Only one thread may use it. Reads the values of `inputs`, which must outlive this object.
class Condition {
 public:
  /// Throws Error (exit code 2; its text begins with `where`) if `text` is no condition or has an unknown name.
  Condition(std::string_view text, ConditionInputs& inputs, const std::string& where);
  ~Condition();
  Condition(Condition&&) noexcept;

  /// The truth for the last values that the inputs took. kFalse if any of these values is absent.
  Truth evaluate() noexcept;

 private:
  Truth evaluate_at_numbers(bool finite) noexcept;

  struct Parser;
  std::unique_ptr<Parser> parser_;  // a pointer, so that this header does not include muParser's
  std::vector<const ConditionInputs::Value*> used_;
  std::vector<double> numbers_;  // the numbers in used_; muParser has their addresses
  bool jumps_ = false;           // whether the truth between two neighbouring doubles may differ from the truth at both
};

}  // namespace ringside
