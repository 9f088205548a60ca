// SPDX-License-Identifier: BSD-3-Clause
// Determines the values of a program's options: the arguments come first, then the file given by --config, then
// environment variables. CLI11 does not parse the words, because it accepts any value for a flag and words its errors
// in a different form.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "common/help/help_forms.hpp"
#include "common/options/command_line.hpp"
#include "common/options/settings_file.hpp"
#include "common/platform/error.hpp"
#include "common/platform/version.hpp"
#include "common/program/log.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

// The largest value. A value may be passed on to a child process, and the kernel accepts no argument beyond 128 KiB.
// Paths and lists of cores are shorter than this limit.
constexpr std::size_t kMostValueBytes = 16384;

/// The final value of an option; empty if the option has none.
std::string effective_value(const OptionDescription& option) {
  if (!option.given) return option.default_text;
  return option.given->empty() ? "on" : *option.given;  // empty: the option was given without a value
}

bool is_off(const OptionDescription& option) {
  const std::string value = effective_value(option);
  return value.empty() || value == "false" || value == "off";
}

/// An option, and the values that the arguments gave for it.
struct Slot {
  Option option;
  OptionDescription declared;
  std::vector<std::string> values = {};
};

enum class Request { kRun, kHelp, kVersion };

class Parser {
 public:
  explicit Parser(const CommandLine& line) : program_(line.program()) {
    for (Option option : line.options()) {
      option.clear();
      slots_.push_back({option, option.describe()});
    }
  }

  /// complete: whether required options must be present. Throws Error (exit code 2, or 3 for the settings file).
  Request parse(const std::vector<std::string>& words, bool complete) {
    take_apart(words);
    refuse_surplus();
    if (is_switched_on("--help")) return Request::kHelp;
    if (is_switched_on("--version")) return Request::kVersion;
    if (const Slot* config = find("--config"); config != nullptr && !config->values.empty()) {
      apply_settings(config->values.front());
    }
    for (Slot& slot : slots_) {
      if (!slot.values.empty()) apply(slot, slot.values, "");
    }
    apply_environment();
    if (complete) demand_required();
    demand_needed(complete);
    return Request::kRun;
  }

 private:
  /// name: for example "--slots" or "-h".
  Slot* find(std::string_view name) {
    for (Slot& slot : slots_) {
      const std::vector<std::string> names = names_of(slot.declared);
      if (std::find(names.begin(), names.end(), name) != names.end()) return &slot;
    }
    return nullptr;
  }

  bool is_switched_on(std::string_view flag) {
    const Slot* slot = find(flag);
    return slot != nullptr && !slot->values.empty() && slot->values.back() == "true";
  }

  void take_apart(const std::vector<std::string>& words) {
    bool only_arguments = false;
    for (auto word = words.begin(); word != words.end(); ++word) {
      if (only_arguments || word->size() < 2 || word->front() != '-') {
        take_argument(*word);
      } else if (*word == "--" && program_ != nullptr) {
        program_->assign(std::next(word), words.end());
        if (program_->empty()) throw usage_error("--: found no program after it, expected PROGRAM and its arguments");
        return;
      } else if (*word == "--") {
        only_arguments = true;
      } else {
        take_option(word, words.end());
      }
    }
  }

  void take_argument(const std::string& word) {
    std::string names;
    for (Slot& slot : slots_) {
      if (!slot.declared.is_argument) continue;
      names.append(" ").append(slot.declared.name);
      if (slot.values.size() >= slot.declared.most_values) continue;
      check_value(slot.declared, word, "");
      slot.values.push_back(word);
      return;
    }
    throw usage_error("found '{}', expected {}{}", shortened(word),
                      names.empty() ? "options only" : "one argument (" + names.substr(1) + ") and options",
                      program_ != nullptr ? ", or a program and its arguments after --" : "");
  }

  /// Takes an option in one of these forms: --name, --name=value, --name value, -n, -nvalue, -n value.
  void take_option(std::vector<std::string>::const_iterator& word, std::vector<std::string>::const_iterator end) {
    const bool is_long = word->starts_with("--");
    const std::size_t name_end = is_long ? std::min(word->find('='), word->size()) : 2;
    const std::string name = word->substr(0, name_end);
    Slot* const slot = find(name);
    if (slot == nullptr) {
      throw usage_error("found '{}', which is not an option; expected one listed by --help", shortened(name));
    }
    const OptionDescription& option = slot->declared;
    const bool has_value = name_end < word->size();
    const std::string value = has_value ? word->substr(name_end + (is_long ? 1 : 0)) : "";
    if (option.is_flag) {
      if (has_value) check_flag(option, value, "");
      slot->values = {has_value ? value : "true"};  // of several, the last one counts
      return;
    }
    if (has_value) {
      check_value(option, value, "");
      slot->values.push_back(value);
    } else if (const auto next = std::next(word); next != end && can_be_value(*next, option.may_stand_alone)) {
      check_value(option, *next, "");
      slot->values.push_back(*next);
      ++word;
    } else if (option.may_stand_alone) {
      slot->values.emplace_back();
    } else {
      throw usage_error("{}: found no value{}, expected {}", option.name,
                        next != end ? fmt::format(" before '{}'", shortened(*next)) : "", accepted_by(option));
    }
  }

  /// Whether a word may be the value of the option before it. A negative number may be a value (it is refused later); a
  /// word that begins like an option may not.
  static bool can_be_value(const std::string& word, bool optional) {
    return !word.starts_with(optional ? "-" : "--") || word == "-";
  }

  static void check_value(const OptionDescription& option, const std::string& value, const std::string& where) {
    // An empty value often comes from an unset variable, and would not reach a child process.
    if (value.empty()) {
      throw usage_error("{}: found an empty value, expected {}{}", option.name, accepted_by(option), where);
    }
    if (value.size() > kMostValueBytes) {
      throw usage_error("{}: found '{}', expected {} of at most {} bytes{}", option.name, shortened(value, 40),
                        accepted_by(option), kMostValueBytes, where);
    }
    if (value.find('\0') != std::string::npos) {
      throw usage_error("{}: found a NUL byte, expected {}{}", option.name, accepted_by(option), where);
    }
  }

  static void check_flag(const OptionDescription& option, const std::string& value, const std::string& where) {
    if (value == "true" || value == "false") return;
    throw usage_error("{}: found '{}', expected {}{}", option.name, shortened(value), accepted_by(option), where);
  }

  void refuse_surplus() const {
    for (const auto& [option, declared, values] : slots_) {
      if (declared.is_flag || values.size() <= declared.most_values) continue;
      throw usage_error("{}: found '{}' and '{}', expected {} once", declared.name, shortened(values[0]),
                        shortened(values[1]), accepted_by(declared));
    }
  }

  void apply_settings(const std::string& file) {
    const std::string name = "--config: " + shortened(file);
    for (const Setting& setting : read_settings(file, name)) {
      const std::string where = fmt::format(" ({}, line {})", shortened(file), setting.line);
      Slot* const slot = find("--" + setting.key);
      if (slot == nullptr || !slot->declared.is_setting) {
        throw usage_error(
            "{}: line {}: found the unknown key '{}', expected lines like `slots = 8`, with this program's options as "
            "keys",
            name, setting.line, shortened(setting.key));
      }
      const OptionDescription& option = slot->declared;
      const bool is_table = setting.is_table && slot->option.named("", "");
      if (setting.is_table && !is_table) {
        throw usage_error("{}: found a table, expected {}{}", option.name, accepted_by(option), where);
      }
      if (!option.is_flag) {
        check_value(option, setting.value, where);
      } else if (setting.quoted) {
        throw usage_error("{}: found '{}' in quotes, expected true or false without quotes{}", option.name,
                          shortened(setting.value), where);
      } else if (setting.value != "true" && setting.value != "false") {
        throw usage_error("{}: found '{}', expected true or false{}", option.name, shortened(setting.value), where);
      }
      if (setting.is_array && option.most_values < 2) {
        throw usage_error("{}: found an array, expected {}{}", option.name, accepted_by(option), where);
      }
      if (!setting.more.empty() && setting.more.size() >= option.most_values) {
        throw usage_error("{}: found {} values, expected at most {}{}", option.name, setting.more.size() + 1,
                          option.most_values, where);
      }
      std::vector<std::string> values = {setting.value};
      for (const std::string& value : setting.more) {
        check_value(option, value, where);
        values.push_back(value);
      }
      for (std::size_t v = 0; is_table && v < values.size(); ++v) {
        values[v] = *slot->option.named(setting.names[v], values[v]);
      }
      if (slot->option.describe().given) {
        throw usage_error("{}: line {}: found '{}', another name of {}, which has a value already; expected it once",
                          name, setting.line, shortened(setting.key), option.name);
      }
      apply(*slot, values, where);
    }
  }

  void apply_environment() {
    for (Slot& slot : slots_) {
      const std::string& variable = slot.declared.environment;
      if (variable.empty() || slot.option.describe().given) continue;
      const char* value = std::getenv(variable.c_str());
      if (value == nullptr || *value == '\0') continue;
      const std::string where = fmt::format(" (the environment's {})", variable);
      check_value(slot.declared, value, where);
      apply(slot, {value}, where);
    }
  }

  static void apply(Slot& slot, const std::vector<std::string>& values, const std::string& where) {
    if (const auto refusal = slot.option.store(values)) throw usage_error("{}{}", *refusal, where);
  }

  void demand_required() const {
    const bool has_program = program_ != nullptr && !program_->empty();
    for (const Slot& slot : slots_) {
      const bool required = slot.declared.is_required || (slot.declared.is_for_own_work && !has_program);
      if (!required || slot.option.describe().given) continue;
      throw usage_error("{}: found none, expected {}{}", slot.declared.name, accepted_by(slot.declared),
                        program_ != nullptr ? ", or a program and its arguments after --" : "");
    }
  }

  /// If an option is given, the option that it needs must be switched on. For settings alone (complete = false), that
  /// option may be missing.
  void demand_needed(bool complete) const {
    for (const Slot& slot : slots_) {
      const OptionDescription option = slot.option.describe();
      if (!option.given || (option.is_flag && is_off(option))) continue;
      for (const Option& other : slot.option.needed()) {
        const OptionDescription needed = other.describe();
        if (!is_off(needed) || (!complete && !needed.given)) continue;
        const std::string with =
            needed.given ? fmt::format("with {} {}", needed.name, effective_value(needed)) : "without " + needed.name;
        throw usage_error("{}: found {}, which leaves it without effect; expected both, or neither", option.name, with);
      }
    }
  }

  std::vector<Slot> slots_;
  std::vector<std::string>* program_;
};

}  // namespace

void parse_words(CommandLine& line, const std::vector<std::string>& words) {
  if (Parser(line).parse(words, true) != Request::kRun) {
    throw usage_error("run_options: found --help or --version; expected options of a run ({} --help)",
                      line.describe().name);
  }
}

std::optional<int> parse_or_exit_code(CommandLine& line, int argc, const char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  try {
    Request request = Request::kRun;
    if (const std::optional<std::string> form = take_help_form(words)) {
      // Settings need not be complete, but every one given must be valid.
      if (*form == kSettingsForm) request = Parser(line).parse(words, false);
      if (request == Request::kRun) {
        std::cout << help_as(*form, line.describe());
        return static_cast<int>(ExitCode::kDone);
      }
    } else {
      request = Parser(line).parse(words, true);
    }
    if (request == Request::kRun) return std::nullopt;
    std::cout << (request == Request::kHelp ? line.help() : std::string(version()) + "\n");
    return static_cast<int>(ExitCode::kDone);
  } catch (const Error& error) {
    const int code = static_cast<int>(error.code());
    const bool usage = error.code() == ExitCode::kUsage;
    const std::string name = line.describe().name;
    print_failure(name, code,
                  usage ? fmt::format("{} (see {} --help)", error.what(), name) : std::string(error.what()));
    return code;
  }
}

}  // namespace ringside
