#include "common/options/option_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include <CLI/CLI.hpp>

namespace ringside {
namespace {

constexpr std::string_view kLowerCase = "abcdefghijklmnopqrstuvwxyz";

bool begins_with_one_of(std::string_view part, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return part.starts_with(word); });
}

}  // namespace

OptionValue value_of(const CLI::Option& option) {
  OptionValue value;
  if (option.get_expected_max() == 0) {
    value.kind = OptionValue::Kind::kNone;
    return value;
  }
  value.optional = option.get_expected_min() == 0;
  std::istringstream parts(option.get_type_name());
  for (std::string part; std::getline(parts, part, '|');) {
    if (!part.empty() && part.find_first_not_of(kLowerCase) == std::string::npos) value.choices.push_back(part);
    if (begins_with_one_of(part, {"FILE", "PATH", "POOL", "SUMMARY"})) value.kind = OptionValue::Kind::kFile;
    if (begins_with_one_of(part, {"FOLDER", "DIR"}) && value.kind == OptionValue::Kind::kText) {
      value.kind = OptionValue::Kind::kFolder;
    }
  }
  return value;
}

std::string description_of(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required()) text += " (required)";
  if (!option.get_default_str().empty()) text += fmt::format(" (default: {})", option.get_default_str());
  return text;
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<const CLI::Option*> arguments_of(const CLI::App& app) {
  return app.get_options(
      [](const CLI::Option* option) { return option->get_positional() && !option->get_group().empty(); });
}

std::vector<OptionGroup> option_groups_of(const CLI::App& app) {
  std::vector<OptionGroup> groups(1);
  for (const CLI::Option* option : app.get_options()) {
    if (!option->nonpositional() || option->get_group().empty()) continue;
    const std::string name = option->get_group() == "Options" ? "" : option->get_group();  // CLI11's default group
    auto group = std::find_if(groups.begin(), groups.end(), [&](const OptionGroup& g) { return g.name == name; });
    if (group == groups.end()) group = groups.insert(groups.end(), {name, {}});
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
