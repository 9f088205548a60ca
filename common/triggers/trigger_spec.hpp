// SPDX-License-Identifier: BSD-3-Clause
// The values of `--trigger 'CONDITION: ACTION[, ACTION]'` and `--on-non-finite`. The condition stays a text here,
// because its names have a meaning only when a run attaches (condition.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// The largest number of --trigger options. The trigger of --on-non-finite does not count.
inline constexpr std::size_t kMostTriggers = 32;

/// The actions of a trigger, as bits.
enum TriggerAction : std::uint32_t {
  kFreeze = 1,  // the analyzer no longer overwrites any slot
  kStop = 2,    // the run ends
  kKeep = 4,    // the step is copied to the archive
  kMark = 8,    // only a mark is made, as for every trigger
  kReply = 16   // the solver receives a number
};

struct TriggerSpec {
  std::string condition;
  std::string name;           // the name in its marks: NAME of mark:NAME, or else the condition
  std::uint32_t actions = 0;  // bits of TriggerAction
  double reply = 0;           // the number for kReply
  bool on_non_finite = false;  // whether this is the trigger of --on-non-finite, which protects the last finite step
  const char* option = "--trigger";  // the option that declared it, for messages
};

/// option: a string literal. Throws Error (exit code 2).
TriggerSpec parse_trigger(std::string_view text, const char* option = "--trigger");

/// Parses a trigger for the results of a whole run of several nodes. Accepts only mark and stop, because such a run has
/// neither a ring nor a solver that could receive a reply.
TriggerSpec parse_global_trigger(std::string_view text);

/// The text of a trigger with `mark:NAME` added, unless the trigger has a name.
std::string named_trigger(const std::string& name, const std::string& text);

/// The trigger of --on-non-finite; its actions are 0 with keep-going. Throws Error (exit code 2).
TriggerSpec parse_on_non_finite(std::string_view text);

/// The actions in the form of the option, for example "freeze" or "reply:0.5".
std::vector<std::string> action_texts(const TriggerSpec& spec);

}  // namespace ringside
