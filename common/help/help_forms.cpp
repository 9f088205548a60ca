// SPDX-License-Identifier: BSD-3-Clause
#include "common/help/help_forms.hpp"

#include <algorithm>
#include <iostream>

#include "common/help/completion.hpp"
#include "common/help/config_template.hpp"
#include "common/help/manual_page.hpp"
#include "common/platform/error.hpp"

namespace ringside {
namespace {

constexpr std::string_view kFlag = "--help-as=";
constexpr std::string_view kManualForm = "man";

}  // namespace

std::optional<std::string> take_help_form(std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");  // a program's arguments are its own
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
