// SPDX-License-Identifier: BSD-3-Clause
// The command line of a program or a subcommand: the options and arguments that it declares, and their values. CLI11
// keeps the declarations, converts the values and lays out --help. Only command_line.cpp includes CLI11, which adds six
// seconds to the compilation of a file; command_line_parser.cpp parses the words.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "common/help/command_description.hpp"

namespace ringside {

/// Checks a value before it is stored. Returns the reason for a refusal ("found '9', expected a number from 1 to 8"),
/// or an empty text. The check may rewrite the value (0100 becomes 100).
using Check = std::function<std::string(std::string& value)>;

/// Stores a value. Returns the reason for a refusal, or an empty text. The value is empty if the option was given
/// without a value.
using Store = std::function<std::string(const std::string& value)>;

struct DeclaredOption;  // defined in command_line.cpp, because both contain CLI11's objects
struct Declarations;

/// A declared option or argument, valid as long as its CommandLine exists.
class Option {
 public:
  explicit Option(DeclaredOption& declared) : declared_(&declared) {}

  Option& required();
  Option& required_without_program();                // see CommandLine::take_program
  Option& value_name(const std::string& name);       // for example FILE; determines the completions (OptionValue)
  Option& show_default();                            // --help shows the variable's present value as the default
  Option& show_default(const std::string& text);     // --help shows `text` as the default
  Option& check(const Check& check);                 // adds a check for each value
  Option& needs(const Option& other);                // refuses the option if `other` is off
  Option& environment(const std::string& variable);  // the variable that provides the value if no option does
  Option& group(const std::string& title);           // the heading in --help; empty: the option is not listed
  Option& may_stand_alone();                         // allows the option without a value
  Option& comma_separated();                         // for a vector: one word may contain several values
  Option& times(int least, int most);                // for a vector: limits the number of values
  /// Allows the values as a table of names in a settings file: `named` makes a value from a name and its text.
  Option& table(std::function<std::string(const std::string& name, const std::string& text)> named);
  Option& records_given(bool& given);                // `given` becomes true when a value is stored

  OptionDescription describe() const;
  std::vector<Option> needed() const;

  /// Checks, converts and stores the values. Returns nothing, or a refusal ("--slots: found '2', expected …").
  std::optional<std::string> store(const std::vector<std::string>& values);
  void clear();
  /// Makes the value from an entry of such a table; nothing if the option accepts no table.
  std::optional<std::string> named(const std::string& name, const std::string& text) const;

 private:
  DeclaredOption* declared_;
};

/// The options that one struct declares. `ringside run` uses these structs, and not the headings in --help, to select
/// the options that it passes to a child (CommandLine::arguments_given).
class OptionSet {
 public:
  OptionSet(Declarations& declarations, std::type_index owner, std::string title)
      : declarations_(&declarations), owner_(owner), title_(std::move(title)) {}

  /// names: "--output", "-o,--output", or "POOL" for an argument. Value: std::string, int, double, std::uint32_t,
  /// std::uint64_t, std::optional<std::uint64_t>, std::vector of int or std::string.
  template <class Value>
  Option option(const std::string& names, Value& value, const std::string& description);
  /// Declares an option with a value of any other type.
  Option option_function(const std::string& names, const Store& store, const std::string& description);
  Option flag(const std::string& names, bool& value, const std::string& description);

 private:
  Option added(Option option) const;

  Declarations* declarations_;
  std::type_index owner_;
  std::string title_;
};

class CommandLine {
 public:
  /// name: as a user types it, for example "ringside run". Declares -h,--help and -V,--version.
  CommandLine(const std::string& description, const std::string& name);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Like the functions of OptionSet, these functions declare options, but the options belong to no struct.
  template <class Value>
  Option option(const std::string& names, Value& value, const std::string& description) {
    return options_of<void>().option(names, value, description);
  }
  Option flag(const std::string& names, bool& value, const std::string& description) {
    return options_of<void>().flag(names, value, description);
  }

  /// title: the heading in --help; empty: none.
  template <class Owner>
  OptionSet options_of(const std::string& title = {}) {
    return OptionSet(*declarations_, typeid(Owner), title);
  }

  /// Declares --config FILE.toml. The keys in the file are the flags' names without dashes; an unknown key is an error
  /// (docs/use/run.md).
  void declare_config_file();
  void footer(const std::string& text);  // the text below the options in --help

  /// Allows `-- PROGRAM [ARGS...]` at the end of the command line. `program` receives these words unparsed; it must
  /// outlive this object.
  void take_program(std::vector<std::string>& program);
  std::vector<std::string>* program() const noexcept;  // null if the command accepts no program

  /// Whether a flag or the file has set an option, and to which value. name: "--passes".
  bool is_given(std::string_view name) const { return value_given(name).has_value(); }
  std::optional<std::string> value_given(std::string_view name) const;

  /// The options of these structs that a flag or the file has set, as arguments for a child process.
  template <class... Owners>
  std::vector<std::string> arguments_given() const {
    return arguments_given({typeid(Owners)...});
  }

  std::vector<Option> options() const;  // options and arguments, in the order of declaration
  CommandDescription describe() const;
  std::string help() const;

 private:
  std::vector<std::string> arguments_given(const std::vector<std::type_index>& owners) const;

  std::unique_ptr<Declarations> declarations_;
};

/// Parses the command line. Returns nothing if the program is to continue, otherwise the exit code with which it must
/// end. kDone: this function has printed the help or the version, as requested. kUsage: an option or setting is wrong.
/// kSystem: a settings file cannot be read. In the last two cases, this function has printed a line on standard error
/// ("ringside run: ..."). An option is refused if the option that it `needs` is switched off.
std::optional<int> parse_or_exit_code(CommandLine& line, int argc, const char* const* argv);

/// Parses words that a program has composed for a run. Throws Error in the cases in which parse_or_exit_code prints a
/// line, and also for `--help`.
void parse_words(CommandLine& line, const std::vector<std::string>& words);

}  // namespace ringside
