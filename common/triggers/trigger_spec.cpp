// SPDX-License-Identifier: BSD-3-Clause
#include "common/triggers/trigger_spec.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

#include "common/platform/error.hpp"
#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr const char* kActions = "expected freeze, stop, keep, mark[:NAME] or reply:VALUE";
constexpr const char* kForm = "expected 'CONDITION: ACTION[, ACTION]', as in 'non_finite > 0: freeze, stop'";
constexpr std::size_t kMostNameBytes = 63;
constexpr std::size_t kMostConditionBytes = 500;  // limited because marks store the condition in the journal

constexpr std::array<std::pair<std::string_view, std::uint32_t>, 5> kWords = {
    {{"freeze", kFreeze}, {"stop", kStop}, {"keep", kKeep}, {"mark", kMark}, {"reply", kReply}}};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::uint32_t action_of(std::string_view word) {
  for (const auto& [known, action] : kWords) {
    if (known == word) return action;
  }
  return 0;
}

/// The two texts around the colon in "mark:NAME".
std::pair<std::string_view, std::optional<std::string_view>> around_colon(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos) return {text, std::nullopt};
  return {trimmed(text.substr(0, colon)), trimmed(text.substr(colon + 1))};
}

std::vector<std::string_view> words_between_commas(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t comma = text.find(','); comma != text.npos; comma = text.find(',')) {
    words.push_back(trimmed(text.substr(0, comma)));
    text.remove_prefix(comma + 1);
  }
  words.push_back(trimmed(text));
  return words;
}

/// Adds the action `word` to `spec`. Returns the reason if the word is invalid, otherwise an empty text.
std::string add_action(std::string_view word, TriggerSpec& spec) {
  const auto [name, value] = around_colon(word);
  const std::uint32_t action = action_of(name);
  if (action == 0) return fmt::format("unknown action '{}'; {}", shortened(word), kActions);
  if ((spec.actions & action) != 0) return fmt::format("found the action {} twice, expected it once", name);
  if (value && action != kMark && action != kReply) {
    return fmt::format("found '{}', but {} has no value; {}", shortened(word), name, kActions);
  }
  spec.actions |= action;
  if (action == kReply) {
    const bool negative = value && value->starts_with('-');
    const auto number = value ? decimal_number(value->substr(negative ? 1 : 0)) : std::nullopt;
    if (!number) return fmt::format("found '{}', expected reply:VALUE with a number", shortened(word));
    spec.reply = negative ? -*number : *number;
  }
  if (action == kMark && value) {
    if (value->empty() || value->size() > kMostNameBytes) {
      return fmt::format("found the name '{}', expected mark:NAME with 1 to {} bytes", shortened(*value),
                         kMostNameBytes);
    }
    spec.name = *value;
  }
  return {};
}

/// Whether an action list may begin here: its first word is an action.
bool begins_with_action(std::string_view text) {
  return action_of(around_colon(words_between_commas(text).front()).first) != 0;
}

/// The colon between condition and actions: the first colon that is followed by an action, because a condition may also
/// contain colons (`a ? b : c`). If no colon is followed by an action, this is the first colon.
std::size_t dividing_colon(std::string_view text) {
  for (std::size_t colon = text.find(':'); colon != text.npos; colon = text.find(':', colon + 1)) {
    if (begins_with_action(text.substr(colon + 1))) return colon;
  }
  return text.find(':');
}

}  // namespace

TriggerSpec parse_trigger(std::string_view text, const char* option) {
  const auto refuse = [&](const std::string& why) { return usage_error("{} '{}': {}", option, shortened(text), why); };
  const std::size_t colon = dividing_colon(text);
  if (colon == text.npos) throw refuse(fmt::format("found no action; {}", kForm));
  TriggerSpec spec;
  spec.option = option;
  spec.condition = trimmed(text.substr(0, colon));
  if (spec.condition.empty()) throw refuse(fmt::format("found no condition; {}", kForm));
  if (spec.condition.size() > kMostConditionBytes) {
    throw refuse(fmt::format("the condition has {} bytes, expected {} at most", spec.condition.size(),
                             kMostConditionBytes));
  }
  for (const std::string_view word : words_between_commas(text.substr(colon + 1))) {
    if (const std::string why = add_action(word, spec); !why.empty()) throw refuse(why);
  }
  if (spec.name.empty()) spec.name = spec.condition;
  return spec;
}

TriggerSpec parse_global_trigger(std::string_view text) {
  constexpr const char* kOption = "--global-trigger";
  TriggerSpec spec = parse_trigger(text, kOption);
  if ((spec.actions & ~(kMark | kStop)) == 0) return spec;
  throw usage_error("{} '{}': found an action on one node's ring or solver; expected mark, mark:NAME or stop", kOption,
                    shortened(text));
}

std::string named_trigger(const std::string& name, const std::string& text) {
  // Here an invalid text is accepted: parse_trigger refuses it later, and quotes it as the user wrote it.
  const std::size_t colon = dividing_colon(text);
  if (colon == text.npos) return text;
  std::string named = text.substr(0, colon) + ": mark:" + name;
  for (const std::string_view word : words_between_commas(std::string_view(text).substr(colon + 1))) {
    if (word.starts_with("mark") && word != "mark") return text;
    if (word != "mark") (named += ", ") += word;
  }
  return named;
}

TriggerSpec parse_on_non_finite(std::string_view text) {
  TriggerSpec spec;
  spec.condition = "non_finite > 0";
  spec.name = "non_finite";
  spec.on_non_finite = true;
  if (text == "keep-going") return spec;
  for (const std::string_view word : words_between_commas(text)) {
    const std::uint32_t action = action_of(word);
    if (action == 0 || action == kReply) {
      throw usage_error("--on-non-finite: found '{}', expected keep-going, or some of mark, freeze, stop, keep",
                        shortened(text));
    }
    spec.actions |= action;
  }
  return spec;
}

std::vector<std::string> action_texts(const TriggerSpec& spec) {
  std::vector<std::string> texts;
  for (const auto& [word, action] : kWords) {
    if ((spec.actions & action) == 0) continue;
    texts.push_back(action == kReply ? fmt::format("reply:{}", spec.reply) : std::string(word));
  }
  return texts;
}

}  // namespace ringside
