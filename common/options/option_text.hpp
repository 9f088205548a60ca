// What an option's declaration says to people, taken apart once for every form it is told in: --help, manual pages,
// completions, files of settings. Nothing of an option is written down a second time.
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

/// What may stand behind an option, or as an argument of its own.
struct OptionValue {
  enum class Kind { kNone, kText, kFile, kFolder } kind = Kind::kText;
  bool optional = false;             // the option may stand alone
  std::vector<std::string> choices;  // words that may be given as they are: locks, messages
};

/// Read from the value's name in --help: `locks|messages` are words, FILE and POOL are files, FOLDER and DIR folders.
OptionValue value_of(const CLI::Option& option);

/// "what it does (required) (default: X)".
std::string description_of(const CLI::Option& option);

/// Every name with its dashes: "-o", "--output".
std::vector<std::string> names_of(const CLI::Option& option);

/// Arguments without a name: "POOL".
std::vector<const CLI::Option*> arguments_of(const CLI::App& app);

/// The options --help shows, group by group in the order in which they were declared, those of no group first.
struct OptionGroup {
  std::string name;
  std::vector<const CLI::Option*> options;
};
std::vector<OptionGroup> option_groups_of(const CLI::App& app);

/// Words of `text` in lines of at most `columns`, each begun with `indent`; a line's end in `text` is a space.
std::string wrapped(std::string_view text, std::size_t columns, std::string_view indent);

/// `text` with each `from` in it replaced.
std::string replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace ringside
