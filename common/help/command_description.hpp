// SPDX-License-Identifier: BSD-3-Clause
// A command as plain data: its name, its options and arguments, their defaults. CommandLine::describe() makes it from
// the declarations. Manual pages, completions, settings files and the options' texts in --help are generated from it,
// so each text exists once.
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
  bool optional = false;             // the option may be given without a value
  std::vector<std::string> choices;  // the accepted words: locks, messages
};

struct OptionDescription {
  std::string name;                      // for messages: "--output"; of an argument: "POOL"
  std::vector<std::string> short_names;  // without dashes: "o"
  std::vector<std::string> long_names;   // without dashes: "output"; the first is the key of the settings file
  std::string meaning;                   // what it does
  std::string value_name;                // FILE, locks|messages; empty for a flag
  std::string default_text;              // empty: none
  std::string environment;               // the variable that gives the value if no option does; empty: none
  std::string group;                     // heading in --help; empty: none
  bool is_argument = false;              // positional
  bool is_flag = false;                  // takes no value
  bool may_stand_alone = false;          // a flag, or an option whose value is optional
  bool is_required = false;
  bool is_for_own_work = false;  // required unless a program is given
  bool is_listed = true;         // --help shows it
  bool is_setting = true;        // false for --help, --version and --config
  std::size_t most_values = 1;
  std::optional<std::string> given;  // the value; of a flag "true" or "false"; empty text: the option stood alone
};

struct CommandDescription {
  std::string name;  // "ringside run"
  std::string description;
  std::string footer;
  std::vector<OptionDescription> options;  // and arguments, in the order of declaration
  bool has_settings_file = false;          // --config
  bool takes_program = false;              // -- PROGRAM [ARGS...]

  bool has(std::string_view option) const;  // "--pool"
};

/// Derived from the value's name in --help: `locks|messages` are words, FILE and POOL files, FOLDER and DIR folders.
OptionValue value_of(const OptionDescription& option);

/// What follows the options of a command that takes a program.
inline constexpr std::string_view kProgramUsage = "-- PROGRAM [ARGS...]";

/// "what it does (required) (default: X)".
std::string description_of(const OptionDescription& option);

/// What an error message names as accepted: "locks|messages".
std::string accepted_by(const OptionDescription& option);

/// Every name with its dashes: "-o", "--output".
std::vector<std::string> names_of(const OptionDescription& option);

/// The positional arguments: "POOL".
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
