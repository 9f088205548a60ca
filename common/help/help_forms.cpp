// SPDX-License-Identifier: BSD-3-Clause
#include "common/help/help_forms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "common/help/manual_page.hpp"
#include "common/platform/error.hpp"
#include "common/text/decimal.hpp"

namespace ringside {
namespace {

constexpr std::string_view kFlag = "--help-as=";
constexpr std::string_view kManualForm = "man";

// ---- completions: scripts for bash, zsh and fish, generated from the same declarations as --help: subcommands,
// options, the words that an option accepts, files and folders.
//
// A script is written in pieces: the beginning, one piece for each subcommand (or one for a program without
// subcommands), and the end. Each subcommand writes its own piece, so that no code needs all declarations.

enum class Shell { kBash, kZsh, kFish };

/// The parts of a name like "ringside run": the program and its subcommand.
struct CommandName {
  std::string program;
  std::string subcommand;  // empty if the program has no subcommands
  explicit CommandName(const std::string& name)
      : program(name.substr(0, name.find(' '))),
        subcommand(name.size() > program.size() ? name.substr(program.size() + 1) : "") {}
};

/// `text`, quoted as one word of a shell script.
std::string shell_word(const std::string& text) {
  return fmt::format("'{}'", replaced(text, "'", "'\\''"));
}

/// The name of a program's completion function. Not every shell accepts a dash in the name of a function.
std::string function_of(std::string_view program) {
  return fmt::format("_{}", replaced(std::string(program), "-", "_"));
}

std::vector<OptionDescription> all_options(const CommandDescription& command) {
  std::vector<OptionDescription> options;
  for (const OptionGroup& group : option_groups_of(command)) {
    options.insert(options.end(), group.options.begin(), group.options.end());
  }
  return options;
}

// ---- bash: a generated function prints the possible words, one line each: `--flag`, `--option=VALUES`, or `VALUES`
// for an argument. VALUES are words, @file or @directory. The line @program means that a program and its arguments may
// follow `--`. A second function, the same for every program, looks up the line that it needs.

std::string bash_values(const OptionValue& value) {
  std::vector<std::string> words = value.choices;
  if (value.kind == OptionValue::Kind::kFile) words.emplace_back("@file");
  if (value.kind == OptionValue::Kind::kFolder) words.emplace_back("@directory");
  return fmt::format("{}", fmt::join(words, " "));
}

std::string bash_arm(const std::string& subcommand, const std::vector<std::string>& lines) {
  std::string text = fmt::format("    {})\n      printf '%s\\n'", subcommand.empty() ? "''" : subcommand);
  for (const std::string& line : lines) text += fmt::format(" \\\n        {}", shell_word(line));
  return text + "\n      ;;\n";
}

std::string bash_of(const CommandDescription& command) {
  std::vector<std::string> lines;
  for (const OptionDescription& argument : arguments_of(command)) lines.push_back(bash_values(value_of(argument)));
  for (const OptionDescription& option : all_options(command)) {
    const OptionValue value = value_of(option);
    const bool flag = value.kind == OptionValue::Kind::kNone;
    for (const std::string& name : names_of(option)) lines.push_back(flag ? name : name + "=" + bash_values(value));
  }
  if (command.takes_program) lines.emplace_back("@program");
  return bash_arm(CommandName(command.name).subcommand, lines);
}

constexpr std::string_view kBashEnd = R"(    *) return 1 ;;
  esac
}

FUNCTION() {
  local current=${COMP_WORDS[COMP_CWORD]} option='' subcommand='' line word values='' words=() program=0 at
  # To bash `=` is a word of its own: --option = value.
  if [[ $current == = ]]; then
    current='' option=${COMP_WORDS[COMP_CWORD - 1]}
  elif [[ ${COMP_WORDS[COMP_CWORD - 1]} == = ]]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  else
    option=${COMP_WORDS[COMP_CWORD - 1]}
  fi
  if ((COMP_CWORD > 1)) && FUNCTION_takes "${COMP_WORDS[1]}" >/dev/null; then subcommand=${COMP_WORDS[1]}; fi

  COMPREPLY=()
  while read -r line; do
    if [[ $line == "$option="* ]]; then
      values=${line#*=}
      words=()
      break
    elif [[ $line == @program ]]; then
      program=1
    elif [[ $line == -* ]]; then
      words+=("${line%%=*}")
    elif [[ $current != -* ]]; then
      values=$line
    fi
  done < <(FUNCTION_takes "$subcommand")
  for ((at = 2; program && at < COMP_CWORD; at++)); do
    [[ ${COMP_WORDS[at]} == -- ]] || continue
    # Another program and its arguments: completed as if they stood alone, or by names.
    if declare -F _command_offset >/dev/null; then
      _command_offset $((at + 1))
      return
    fi
    values=@file
    words=()
    if ((COMP_CWORD == at + 1)); then values='@command @file'; fi
    break
  done
  if [[ $current == -* || -z $values ]]; then values+=" ${words[*]}"; fi
  for word in $values; do
    case $word in
      @file | @directory | @command)
        compopt -o filenames 2>/dev/null
        while read -r line; do COMPREPLY+=("$line"); done < <(compgen -A "${word#@}" -- "$current")
        ;;
      "$current"*) COMPREPLY+=("$word") ;;
    esac
  done
}
complete -F FUNCTION PROGRAM
)";

// ---- zsh: _arguments completes from one specification for each option and argument.

/// Escapes the characters that have a meaning in a specification of _arguments.
std::string zsh_text(std::string text) {
  for (const std::string_view c : {"\\", "[", "]", ":"}) text = replaced(std::move(text), c, fmt::format("\\{}", c));
  return text;
}

std::string zsh_values(const OptionDescription& option) {
  const OptionValue value = value_of(option);
  std::string action = value.choices.empty() ? "" : fmt::format("({})", fmt::join(value.choices, " "));
  if (value.kind == OptionValue::Kind::kFile) action = "_files";
  if (value.kind == OptionValue::Kind::kFolder) action = "_files -/";
  return zsh_text(option.value_name) + ":" + action;
}

std::string zsh_of(const CommandDescription& command) {
  std::vector<std::string> specifications;
  for (const OptionDescription& option : all_options(command)) {
    const OptionValue value = value_of(option);
    for (const std::string& name : names_of(option)) {
      std::string text = name;
      const bool flag = value.kind == OptionValue::Kind::kNone;
      if (!flag && name.starts_with("--")) text += value.optional ? "=-" : "=";
      text += fmt::format("[{}]", zsh_text(description_of(option)));
      if (!flag) text += fmt::format("{}{}", value.optional ? "::" : ":", zsh_values(option));
      specifications.push_back(shell_word(text));
    }
  }
  for (const OptionDescription& argument : arguments_of(command)) {
    specifications.push_back(shell_word(fmt::format("{}{}", argument.is_required ? ":" : "::", zsh_values(argument))));
  }
  if (command.takes_program) specifications.push_back(shell_word("*:::program and its arguments: _normal"));
  const CommandName name(command.name);
  return fmt::format("    {})\n      _arguments {}\\\n        {}\n      ;;\n",
                     name.subcommand.empty() ? "''" : name.subcommand, command.takes_program ? "-S " : "",
                     fmt::join(specifications, " \\\n        "));
}

// ---- fish: one line for each option, with the condition under which fish offers the option.

std::string fish_condition(const CommandName& name) {
  return name.subcommand.empty() ? "" : fmt::format(" -n '__fish_seen_subcommand_from {}'", name.subcommand);
}

std::string fish_values(const OptionValue& value) {
  std::string text = value.kind == OptionValue::Kind::kFile ? " -F" : " -f";
  if (value.kind == OptionValue::Kind::kFolder) text += " -a '(__fish_complete_directories)'";
  if (!value.choices.empty()) text += fmt::format(" -a '{}'", fmt::join(value.choices, " "));
  return text;
}

std::string fish_of(const CommandDescription& command) {
  const CommandName name(command.name);
  const std::string begin = fmt::format("complete -c {}{}", name.program, fish_condition(name));
  std::string text;
  for (const OptionDescription& argument : arguments_of(command))
    text += begin + fish_values(value_of(argument)) + "\n";
  if (command.takes_program) {
    text += fmt::format("complete -c {} -n 'contains -- -- (commandline -opc)' -F -a '(__fish_complete_command)'\n",
                        name.program);
  }
  for (const OptionDescription& option : all_options(command)) {
    text += begin;
    for (const std::string& letter : option.short_names) text += " -s " + letter;
    for (const std::string& word : option.long_names) text += " -l " + word;
    const OptionValue value = value_of(option);
    // -r: the option takes a value.
    if (value.kind != OptionValue::Kind::kNone && !value.optional) text += " -r";
    text += fmt::format("{} -d {}\n", fish_values(value), shell_word(replaced(description_of(option), "\\", "\\\\")));
  }
  return text;
}

std::vector<std::string> names_of(std::span<const CommandSummary> subcommands) {
  std::vector<std::string> names;
  for (const CommandSummary& s : subcommands) names.emplace_back(s.name);
  return names;
}

std::optional<Shell> shell_named(std::string_view name) {
  if (name == "bash") return Shell::kBash;
  if (name == "zsh") return Shell::kZsh;
  if (name == "fish") return Shell::kFish;
  return std::nullopt;
}

/// subcommands: empty for a program that has none.
std::string completion_begin(Shell shell, std::string_view program, std::span<const CommandSummary> subcommands) {
  const std::string function = function_of(program);
  switch (shell) {
    case Shell::kBash: {
      std::string text = fmt::format(
          "# Completion of {0} for bash, made by {0} itself.\n{1}_takes() {{\n  case $1 in\n", program, function);
      const std::vector<std::string> names = names_of(subcommands);
      if (!names.empty()) text += bash_arm("", {fmt::format("{}", fmt::join(names, " ")), "--help", "--version"});
      return text;
    }
    case Shell::kZsh: {
      std::string text = fmt::format("#compdef {0}\n# Completion of {0} for zsh, made by {0} itself.\n", program);
      if (subcommands.empty()) return text + fmt::format("{}() {{\n  case '' in\n", function);
      text += fmt::format("{}() {{\n  if ((CURRENT == 2)); then\n    local -a subcommands=(\n", function);
      for (const CommandSummary& s : subcommands)
        text += fmt::format("      {}\n", shell_word(fmt::format("{}:{}", s.name, s.does)));
      return text +
             "    )\n    _describe subcommand subcommands\n    compadd -- --help --version\n    return\n  fi\n"
             "  local subcommand=$words[2]\n  shift words\n  ((CURRENT -= 1))\n  case $subcommand in\n";
    }
    case Shell::kFish: break;
  }
  std::string text = fmt::format("# Completion of {0} for fish, made by {0} itself.\ncomplete -c {0} -f\n", program);
  for (const CommandSummary& s : subcommands) {
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program, s.name,
                        shell_word(std::string(s.does)));
  }
  for (const std::string_view flag : {"help", "version"}) {
    if (!subcommands.empty()) text += fmt::format("complete -c {} -n __fish_use_subcommand -l {}\n", program, flag);
  }
  return text;
}

/// The piece for a program, or for a subcommand ("ringside run").
std::string completion_of(Shell shell, const CommandDescription& command) {
  return shell == Shell::kBash ? bash_of(command) : shell == Shell::kZsh ? zsh_of(command) : fish_of(command);
}

std::string completion_end(Shell shell, std::string_view program) {
  const std::string function = function_of(program);
  if (shell == Shell::kZsh) return fmt::format("  esac\n}}\n{} \"$@\"\n", function);
  if (shell == Shell::kFish) return {};
  return replaced(replaced(std::string(kBashEnd), "FUNCTION", function), "PROGRAM", program);
}

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
