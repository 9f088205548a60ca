// SPDX-License-Identifier: BSD-3-Clause
// The command line of a program or a subcommand: the options and arguments that it declares, and their values. CLI11
// keeps the declarations, converts the values and lays out --help. Only command_line.cpp includes CLI11, which adds six
// seconds to the compilation of a file; command_line_parser.cpp reads the words.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "common/help/command_description.hpp"

namespace ringside {

/// Checks a value before it is stored: returns the refusal ("found '9', expected a number from 1 to 8"), or an empty
/// text. May rewrite the value (0100 becomes 100).
using Check = std::function<std::string(std::string& value)>;

/// Stores a value, or returns the refusal. The value is empty if the option stands alone.
using Store = std::function<std::string(const std::string& value)>;

struct DeclaredOption;  // these two contain CLI11's objects: in command_line.cpp
struct Declarations;

/// A declared option or argument, valid as long as its CommandLine.
class Option {
 public:
  explicit Option(DeclaredOption& declared) : declared_(&declared) {}

  Option& required();
  Option& required_without_program();                // CommandLine::take_program
  Option& value_name(const std::string& name);       // FILE; determines the completions (OptionValue)
  Option& show_default();                            // in --help: the variable's present value
  Option& show_default(const std::string& text);     // in --help
  Option& check(const Check& check);                 // checks each value
  Option& needs(const Option& other);                // refused if `other` is off
  Option& environment(const std::string& variable);  // gives the value if no option does
  Option& group(const std::string& title);           // the heading in --help; empty: --help does not list the option
  Option& may_stand_alone();                         // without a value
  Option& comma_separated();                         // for a vector: several values in one word
  Option& times(int least, int most);                // for a vector: how many values
  /// A settings file may give the values as a table of names: `named` makes a value from a name and its text.
  Option& table(std::function<std::string(const std::string& name, const std::string& text)> named);
  Option& records_given(bool& given);                // `given` becomes true when a value is stored

  OptionDescription describe() const;
  std::vector<Option> needed() const;

  /// Checks, converts and stores. Returns the refusal, "--slots: found '2', expected …", or nothing.
  std::optional<std::string> store(const std::vector<std::string>& values);
  void clear();
  /// The value that a table's entry gives; nothing if the option accepts no table.
  std::optional<std::string> named(const std::string& name, const std::string& text) const;

 private:
  DeclaredOption* declared_;
};

/// The options that one struct declares. `ringside run` selects by struct the options that it passes on to a child
/// (CommandLine::arguments_given), independently of the headings in --help.
class OptionSet {
 public:
  OptionSet(Declarations& declarations, std::type_index owner, std::string title)
      : declarations_(&declarations), owner_(owner), title_(std::move(title)) {}

  /// names: "--output", "-o,--output", or "POOL" for an argument. Value: std::string, int, double, std::uint32_t,
  /// std::uint64_t, std::optional<std::uint64_t>, std::vector of int or std::string.
  template <class Value>
  Option option(const std::string& names, Value& value, const std::string& description);
  /// An option with a value of any other type.
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
  /// name: as a user calls it, "ringside run". Declares -h,--help and -V,--version.
  CommandLine(const std::string& description, const std::string& name);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// As in OptionSet; these options belong to no struct.
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

  /// --config FILE.toml: the flags' names without dashes are the keys; an unknown key is an error (docs/use/run.md).
  void declare_config_file();
  void footer(const std::string& text);  // below the options in --help

  /// `-- PROGRAM [ARGS...]` may end the command line. `program` receives these words unparsed; it must outlive this
  /// object.
  void take_program(std::vector<std::string>& program);
  std::vector<std::string>* program() const noexcept;  // null: the command accepts none

  /// Whether a flag or the file has set an option, and to which value. name: "--passes".
  bool is_given(std::string_view name) const { return value_given(name).has_value(); }
  std::optional<std::string> value_given(std::string_view name) const;

  /// The options of these structs that a flag or the file has set, as arguments for a child process.
  template <class... Owners>
  std::vector<std::string> arguments_given() const {
    return arguments_given({typeid(Owners)...});
  }

  std::vector<Option> options() const;  // and arguments, in the order of declaration
  CommandDescription describe() const;
  std::string help() const;

 private:
  std::vector<std::string> arguments_given(const std::vector<std::type_index>& owners) const;

  std::unique_ptr<Declarations> declarations_;
};

/// Parses the command line. Returns nothing if the program is to continue, else the exit code to end with. Help and
/// version are printed; the code is then kDone. A wrong option or setting prints one line ("ringside run: ...") to
/// standard error, with the code kUsage, or kSystem for a settings file that cannot be read. An option is refused if
/// the option that it `needs` is switched off.
std::optional<int> parse_or_exit_code(CommandLine& line, int argc, const char* const* argv);

/// Parses words that a program has composed, for a run. Throws Error where parse_or_exit_code prints a line, and for
/// `--help`.
void parse_words(CommandLine& line, const std::vector<std::string>& words);

}  // namespace ringside
