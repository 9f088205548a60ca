// SPDX-License-Identifier: BSD-3-Clause
#include "common/help/command_description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace ringside {
namespace {

constexpr std::string_view kLowerCase = "abcdefghijklmnopqrstuvwxyz";

bool begins_with_one_of(std::string_view part, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return part.starts_with(word); });
}

}  // namespace

bool CommandDescription::has(std::string_view option) const {
  return std::any_of(options.begin(), options.end(), [option](const OptionDescription& o) { return o.name == option; });
}

OptionValue value_of(const OptionDescription& option) {
  OptionValue value;
  if (option.is_flag) {
    value.kind = OptionValue::Kind::kNone;
    return value;
  }
  value.optional = option.may_stand_alone;
  std::istringstream parts(option.value_name);
  for (std::string part; std::getline(parts, part, '|');) {
    if (!part.empty() && part.find_first_not_of(kLowerCase) == std::string::npos) value.choices.push_back(part);
    if (begins_with_one_of(part, {"FILE", "PATH", "POOL", "SUMMARY"})) value.kind = OptionValue::Kind::kFile;
    if (begins_with_one_of(part, {"FOLDER", "DIR"}) && value.kind == OptionValue::Kind::kText) {
      value.kind = OptionValue::Kind::kFolder;
    }
  }
  return value;
}

std::string description_of(const OptionDescription& option) {
  std::string text = option.meaning;
  if (option.is_required) text += " (required)";
  if (option.is_for_own_work) text += " (required without -- PROGRAM)";
  if (!option.default_text.empty()) text += fmt::format(" (default: {})", option.default_text);
  return text;
}

std::string accepted_by(const OptionDescription& option) {
  return option.is_flag ? "true or false, or the option alone" : option.value_name;
}

std::vector<std::string> names_of(const OptionDescription& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.short_names) names.push_back("-" + name);
  for (const std::string& name : option.long_names) names.push_back("--" + name);
  return names;
}

std::vector<OptionDescription> arguments_of(const CommandDescription& command) {
  std::vector<OptionDescription> arguments;
  for (const OptionDescription& option : command.options) {
    if (option.is_argument && option.is_listed) arguments.push_back(option);
  }
  return arguments;
}

std::vector<OptionGroup> option_groups_of(const CommandDescription& command) {
  std::vector<OptionGroup> groups(1);
  for (const OptionDescription& option : command.options) {
    if (option.is_argument || !option.is_listed) continue;
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const OptionGroup& g) { return g.name == option.group; });
    if (group == groups.end()) group = groups.insert(groups.end(), {option.group, {}});
    group->options.push_back(option);
  }
  return groups;
}

std::string wrapped(std::string_view text, std::size_t columns, std::string_view indent) {
  std::istringstream words{std::string(text)};
  std::string lines(indent);
  std::size_t column = indent.size();
  for (std::string word; words >> word; column += word.size()) {
    if (column > indent.size() && column + 1 + word.size() > columns) {
      lines.append("\n").append(indent);
      column = indent.size();
    } else if (column > indent.size()) {
      lines += ' ';
      ++column;
    }
    lines += word;
  }
  return lines;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace ringside
