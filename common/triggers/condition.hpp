// SPDX-License-Identifier: BSD-3-Clause
// A condition over the results of a step (docs/use/questions.md), evaluated by muParser. Its names are found before
// muParser sees the text, because results may have dots and minus signs in their names, and `prev(NAME)` is no function
// of a number.
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
  // It divides by zero, takes a root or a logarithm that does not exist, or has an integer beyond 2^53 that lies between two
  // doubles with which it would be true and false.
  kUndefined
};

/// Used by one thread. What it reads is in the inputs, which outlive it.
class Condition {
 public:
  /// Throws Error (exit code 2), which begins with `where`, if the text is no condition, or has a name that the run
  /// lacks.
  Condition(std::string_view text, ConditionInputs& inputs, const std::string& where);
  ~Condition();
  Condition(Condition&&) noexcept;

  /// Of the values that the inputs took last. kFalse if one of them is absent.
  Truth evaluate() noexcept;

 private:
  Truth evaluate_at_numbers(bool finite) noexcept;

  struct Parser;
  std::unique_ptr<Parser> parser_;  // muParser's header stays out of this one
  std::vector<const ConditionInputs::Value*> used_;
  std::vector<double> numbers_;  // of used_, for muParser, which has their addresses
  bool jumps_ = false;           // it may have another value between two values of its inputs than at both
};

}  // namespace ringside
