// SPDX-License-Identifier: BSD-3-Clause
// The values of `--trigger 'CONDITION: ACTION[, ACTION]'` and `--on-non-finite`. The condition stays a text here: its
// names get their meaning when a run attaches (condition.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// The most --trigger options. The trigger of --on-non-finite is extra.
inline constexpr std::size_t kMostTriggers = 32;

/// Bits.
enum TriggerAction : std::uint32_t {
  kFreeze = 1,  // the analyzer overwrites no slot any more
  kStop = 2,    // the run ends
  kKeep = 4,    // the step is copied to the archive
  kMark = 8,    // only the mark, which every trigger makes
  kReply = 16   // the solver receives a number
};

struct TriggerSpec {
  std::string condition;
  std::string name;           // of its marks: NAME of mark:NAME, else the condition
  std::uint32_t actions = 0;  // TriggerAction
  double reply = 0;           // with kReply
  bool on_non_finite = false;  // from --on-non-finite: the last finite step is not overwritten
  const char* option = "--trigger";  // its option, for messages
};

/// option: a literal. Throws Error (exit code 2).
TriggerSpec parse_trigger(std::string_view text, const char* option = "--trigger");

/// The same for the results of a whole run of several nodes. Accepts only mark and stop: that run has neither a ring
/// nor a solver to answer.
TriggerSpec parse_global_trigger(std::string_view text);

/// The text of a trigger with `mark:NAME` added, unless the trigger has a name.
std::string named_trigger(const std::string& name, const std::string& text);

/// The trigger of --on-non-finite; its actions are 0 with keep-going. Throws Error (exit code 2).
TriggerSpec parse_on_non_finite(std::string_view text);

/// The actions in the form of the option: "freeze", "reply:0.5".
std::vector<std::string> action_texts(const TriggerSpec& spec);

}  // namespace ringside
