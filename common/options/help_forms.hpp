// The other forms in which a program tells its options, for those who install it: `--help-as=man|bash|zsh|fish|toml`.
// --help does not show it. With toml the options beside it are the settings of the file: that checks a file, too
// (`ringside-analyzer --config FILE --help-as=toml`).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/options/option_text.hpp"

namespace ringside {

inline constexpr std::string_view kSettingsForm = "toml";

/// Takes --help-as=FORM out of `arguments`.
std::optional<std::string> take_help_form(std::vector<std::string>& arguments);

/// The options of `app`: the whole text for a program, its part for a subcommand ("ringside run"). For kSettingsForm
/// `app` was parsed. Throws Error (exit code 2) for a form that is not known.
std::string help_as(const std::string& form, const CLI::App& app);

/// Prints a program that has nothing but subcommands; print_subcommand prints the part of one. The form `subcommands`
/// is their names, a line each. Throws Error (exit code 2) for a form that is not known.
void print_help_as(const std::string& form, std::string_view program, std::string_view description,
                   std::span<const CommandSummary> subcommands,
                   const std::function<void(const CommandSummary&)>& print_subcommand);

}  // namespace ringside
