// SPDX-License-Identifier: BSD-3-Clause
// A command as plain data: its name, its options and arguments, and their defaults. CommandLine::describe() makes this
// data from the declarations. Manual pages, completions, settings files and the texts of options in --help are
// generated from the data, so each text exists once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

/// One line about a subcommand, as `ringside --help` shows it.
struct CommandSummary {
  std::string_view name;
  std::string_view arguments;
  std::string_view does;
};

/// The value of an option, or an argument.
struct OptionValue {
  enum class Kind { kNone, kText, kFile, kFolder } kind = Kind::kText;
  bool optional = false;             // whether the option may be given without a value
  std::vector<std::string> choices;  // the accepted words, for instance: locks, messages
};

struct OptionDescription {
  std::string name;                      // the name for messages: "--output"; for an argument: "POOL"
  std::vector<std::string> short_names;  // names without dashes: "o"
  std::vector<std::string> long_names;   // names without dashes: "output"; the first is the key in the settings file
  std::string meaning;                   // what the option does
  std::string value_name;                // the value's name: FILE, locks|messages; empty for a flag
  std::string default_text;              // empty: none
  std::string environment;               // the variable that provides the value if no option does; empty: none
  std::string group;                     // the option's heading in --help; empty: none
  bool is_argument = false;              // whether it is positional
  bool is_flag = false;                  // whether it takes no value
  bool may_stand_alone = false;          // whether it is a flag, or an option whose value is optional
  bool is_required = false;
  bool is_for_own_work = false;  // required unless a program is given
  bool is_listed = true;         // whether --help shows it
  bool is_setting = true;        // false for --help, --version and --config
  std::size_t most_values = 1;
  std::optional<std::string> given;  // the value; "true" or "false" for a flag; an empty text for an option without one
};

struct CommandDescription {
  std::string name;  // for example "ringside run"
  std::string description;
  std::string footer;
  std::vector<OptionDescription> options;  // options and arguments, in the order of declaration
  bool has_settings_file = false;          // whether it has --config
  bool takes_program = false;              // whether it takes -- PROGRAM [ARGS...]

  bool has(std::string_view option) const;  // Whether the command has this option, for example "--pool".
};

/// What the option accepts, derived from the value's name in --help: `locks|messages` are words, FILE and POOL are
/// files, FOLDER and DIR are folders.
OptionValue value_of(const OptionDescription& option);

/// What follows the options in the usage of a command that takes a program.
inline constexpr std::string_view kProgramUsage = "-- PROGRAM [ARGS...]";

/// The option's text in --help: "what it does (required) (default: X)".
std::string description_of(const OptionDescription& option);

/// The values that an error message lists as accepted: "locks|messages".
std::string accepted_by(const OptionDescription& option);

/// All names with their dashes: "-o", "--output".
std::vector<std::string> names_of(const OptionDescription& option);

/// The positional arguments, for example "POOL".
std::vector<OptionDescription> arguments_of(const CommandDescription& command);

/// The options that --help shows, by group in the order of declaration; options without a group come first.
struct OptionGroup {
  std::string name;
  std::vector<OptionDescription> options;
};
std::vector<OptionGroup> option_groups_of(const CommandDescription& command);

/// `text` in lines of at most `columns`, each beginning with `indent`. A line break in `text` counts as a space.
std::string wrapped(std::string_view text, std::size_t columns, std::string_view indent);

/// `text` with each `from` replaced by `to`.
std::string replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace ringside
