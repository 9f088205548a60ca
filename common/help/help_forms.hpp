// SPDX-License-Identifier: BSD-3-Clause
// The forms other than --help in which a program prints its options: `--help-as=man|bash|zsh|fish|toml`. The
// installation uses them; --help does not list this option. With toml, the other given options become the settings of
// the printed file. `ringside-analyzer --config FILE --help-as=toml` thus checks an existing file.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/help/command_description.hpp"

namespace ringside {

inline constexpr std::string_view kSettingsForm = "toml";

/// Removes --help-as=FORM from `arguments` and returns FORM; nothing if there is no such argument.
std::optional<std::string> take_help_form(std::vector<std::string>& arguments);

/// The options of `command` in the given form. For a shell and a subcommand ("ringside run"), this is the subcommand's
/// piece of the script. For kSettingsForm, `command` must have been parsed. Throws Error (exit code 2) for an unknown
/// form.
std::string help_as(const std::string& form, const CommandDescription& command);

/// Prints the help of a program that consists of subcommands only, in the given form. print_subcommand must print one
/// subcommand's piece. The form `subcommands` prints the subcommands' names, one per line. Throws Error (exit code 2)
/// for an unknown form.
void print_help_as(const std::string& form, std::string_view program, std::string_view description,
                   std::span<const CommandSummary> subcommands,
                   const std::function<void(const CommandSummary&)>& print_subcommand);

}  // namespace ringside
