// SPDX-License-Identifier: BSD-3-Clause
#include "common/help/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace ringside {
namespace {

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

}  // namespace

std::optional<Shell> shell_named(std::string_view name) {
  if (name == "bash") return Shell::kBash;
  if (name == "zsh") return Shell::kZsh;
  if (name == "fish") return Shell::kFish;
  return std::nullopt;
}

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

std::string completion_of(Shell shell, const CommandDescription& command) {
  return shell == Shell::kBash ? bash_of(command) : shell == Shell::kZsh ? zsh_of(command) : fish_of(command);
}

std::string completion_end(Shell shell, std::string_view program) {
  const std::string function = function_of(program);
  if (shell == Shell::kZsh) return fmt::format("  esac\n}}\n{} \"$@\"\n", function);
  if (shell == Shell::kFish) return {};
  return replaced(replaced(std::string(kBashEnd), "FUNCTION", function), "PROGRAM", program);
}

}  // namespace ringside
