// SPDX-License-Identifier: BSD-3-Clause
// What `--trigger 'CONDITION: ACTION[, ACTION]'` and `--on-non-finite` name. The condition stays a text here: what its
// names mean is known when a run has come (condition.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// --trigger may be given so often. The trigger of --on-non-finite comes on top.
inline constexpr std::size_t kMostTriggers = 32;

/// Bits.
enum TriggerAction : std::uint32_t {
  kFreeze = 1,  // nothing in the ring is overwritten any more
  kStop = 2,    // the run ends
  kKeep = 4,    // the step goes to the archive
  kMark = 8,    // nothing more than the mark, which every trigger leaves
  kReply = 16   // the solver gets a number
};

struct TriggerSpec {
  std::string condition;
  std::string name;           // of its marks: that of mark:NAME, else the condition
  std::uint32_t actions = 0;  // TriggerAction
  double reply = 0;           // with kReply
  bool on_non_finite = false;  // from --on-non-finite: the last finite step is not overwritten
  const char* option = "--trigger";  // that gave it, for messages
};

/// option: a literal. Throws Error (exit code 2).
TriggerSpec parse_trigger(std::string_view text, const char* option = "--trigger");

/// The same of one over the results of a whole run of several nodes, which has no ring and answers no solver: mark, stop.
TriggerSpec parse_global_trigger(std::string_view text);

/// The same trigger with a name, unless it has one: with `mark:NAME` behind it.
std::string named_trigger(const std::string& name, const std::string& text);

/// The trigger of --on-non-finite; its actions are 0 with keep-going. Throws Error (exit code 2).
TriggerSpec parse_on_non_finite(std::string_view text);

/// The actions as a user writes them: "freeze", "reply:0.5".
std::vector<std::string> action_texts(const TriggerSpec& spec);

}  // namespace ringside
