// SPDX-License-Identifier: BSD-3-Clause
#include "common/help/help_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "common/help/completion.hpp"
#include "common/help/manual_page.hpp"
#include "common/platform/error.hpp"
#include "common/text/decimal.hpp"

namespace ringside {
namespace {

constexpr std::string_view kFlag = "--help-as=";
constexpr std::string_view kManualForm = "man";

// ---- the settings file

constexpr std::size_t kColumns = 100;

/// `text` as a TOML value: numbers and truth values without quotes, any other text in quotes.
std::string value_text(const std::string& text) {
  if (text == "true" || text == "false" || decimal_number(text)) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04x}", byte);
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string line_of(const OptionDescription& option) {
  const std::string key = option.long_names.front();
  if (option.given) return fmt::format("{} = {}", key, option.is_flag ? *option.given : value_text(*option.given));
  if (option.is_flag) return fmt::format("#{} = false", key);
  // An option without a default shows the name of its value instead.
  return fmt::format("#{} = {}", key,
                     value_text(option.default_text.empty() ? option.value_name : option.default_text));
}

/// TOML for --config, with every key, its meaning and its default. A key that was given (by a flag, or in a file read
/// by --config) appears with its value; any other key appears in a comment, with its default.
std::string config_template(const CommandDescription& command) {
  const std::string page = replaced(command.name, " ", "-");
  std::string text = wrapped(fmt::format("Settings of `{}`, which reads this file if it is started with `--config "
                                         "FILE`. Each key is one of its options ({}(1)). A key after a # is not set; "
                                         "the line shows its default or, if it has none, the kind of its value.",
                                         command.name, page),
                             kColumns, "# ");
  text += "\n";
  if (const std::string_view path = service_settings(command.name); !path.empty()) {
    text += fmt::format("# The service reads {}.\n", path);
  }
  for (const OptionGroup& group : option_groups_of(command)) {
    std::string keys;
    for (const OptionDescription& option : group.options) {
      if (!option.is_setting || option.long_names.empty()) continue;
      std::string meaning = option.meaning;
      if (option.is_required || option.is_for_own_work) meaning += " (required)";
      keys += fmt::format("\n{}\n{}\n", wrapped(meaning, kColumns, "# "), line_of(option));
    }
    if (!keys.empty() && !group.name.empty()) text += fmt::format("\n# ==== {} ====\n", group.name);
    text += keys;
  }
  return text;
}

}  // namespace

std::optional<std::string> take_help_form(std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");  // from `--` on: the program's arguments
  const auto given =
      std::find_if(arguments.begin(), end, [](const std::string& argument) { return argument.starts_with(kFlag); });
  if (given == end) return std::nullopt;
  std::string form = given->substr(kFlag.size());
  arguments.erase(given);
  return form;
}

std::string help_as(const std::string& form, const CommandDescription& command) {
  if (form == kManualForm) return manual_page(command);
  if (form == kSettingsForm && command.has_settings_file) return config_template(command);
  if (const std::optional<Shell> shell = shell_named(form)) {
    const std::string& program = command.name;
    if (program.find(' ') != std::string::npos) return completion_of(*shell, command);
    return completion_begin(*shell, program, {}) + completion_of(*shell, command) + completion_end(*shell, program);
  }
  throw usage_error("--help-as: found '{}', expected man, bash, zsh, fish{}", form,
                    command.has_settings_file ? ", toml" : "");
}

void print_help_as(const std::string& form, std::string_view program, std::string_view description,
                   std::span<const CommandSummary> subcommands,
                   const std::function<void(const CommandSummary&)>& print_subcommand) {
  if (form == kManualForm) {
    std::cout << manual_page(program, description, subcommands);
  } else if (form == "subcommands") {
    for (const CommandSummary& s : subcommands) std::cout << s.name << '\n';
  } else if (const std::optional<Shell> shell = shell_named(form)) {
    std::cout << completion_begin(*shell, program, subcommands);
    for (const CommandSummary& s : subcommands) print_subcommand(s);
    std::cout << completion_end(*shell, program);
  } else {
    throw usage_error("--help-as: found '{}', expected man, bash, zsh, fish, subcommands", form);
  }
}

}  // namespace ringside
