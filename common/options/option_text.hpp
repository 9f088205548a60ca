// The parts of an option's declaration, taken apart once for every form that shows them: --help, manual pages,
// completions and settings files. No text about an option exists twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

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

/// Derived from the value's name in --help: `locks|messages` are words, FILE and POOL files, FOLDER and DIR folders.
OptionValue value_of(const CLI::Option& option);

/// "what it does (required) (default: X)".
std::string description_of(const CLI::Option& option);

/// Every name with its dashes: "-o", "--output".
std::vector<std::string> names_of(const CLI::Option& option);

/// The positional arguments: "POOL".
std::vector<const CLI::Option*> arguments_of(const CLI::App& app);

/// The options that --help shows, by group in the order of declaration; options without a group come first.
struct OptionGroup {
  std::string name;
  std::vector<const CLI::Option*> options;
};
std::vector<OptionGroup> option_groups_of(const CLI::App& app);

/// `text` in lines of at most `columns`, each beginning with `indent`. A line break in `text` counts as a space.
std::string wrapped(std::string_view text, std::size_t columns, std::string_view indent);

/// `text` with each `from` replaced by `to`.
std::string replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace ringside
