// Where a program's options get their values: first from its arguments, then from the file that --config names, then
// from an environment variable. CLI11 declares the options and converts the values. The words are parsed here, because
// CLI11 accepts any value for a flag and words its errors in its own way.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string_view>

#include <CLI/CLI.hpp>

#include "common/options/help_forms.hpp"
#include "common/options/option_text.hpp"
#include "common/options/options.hpp"
#include "common/options/settings_file.hpp"
#include "common/platform/error.hpp"
#include "common/platform/printable.hpp"
#include "common/program/log.hpp"

namespace ringside {
namespace {

// Every value may be passed on to a child process, and the kernel accepts no argument beyond 128 KiB. No path and no
// list of cores is as long as this limit.
constexpr std::size_t kMostValueBytes = 16384;

/// Formats help as `--flag VALUE   description (default: X)`.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(34); }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_name().empty() ? "" : " " + option->get_type_name();
  }
  std::string make_option_desc(const CLI::Option* option) const override { return description_of(*option); }
};

bool is_flag(const CLI::Option& option) {
  return option.get_expected_max() == 0;
}

bool may_stand_alone(const CLI::Option& option) {
  return option.get_expected_min() == 0;
}

std::string accepted_by(const CLI::Option& option) {
  return is_flag(option) ? "true or false, or the option alone" : option.get_type_name();
}

/// The value an option ends up with; empty if it has none.
std::string effective_value(const CLI::Option& option) {
  if (option.count() == 0) return option.get_default_str();
  return option.results().back().empty() ? "on" : option.results().back();  // empty: the option stood alone
}

bool is_off(const CLI::Option& option) {
  const std::string value = effective_value(option);
  return value.empty() || value == "false" || value == "off";
}

/// The values found for an option, and where they were found.
struct Given {
  std::vector<std::string> values;
  std::string where;  // appended to a message: " (run.toml, line 3)"
};

class CommandLine {
 public:
  explicit CommandLine(CLI::App& app) : app_(app) {
    for (CLI::Option* option : app_.get_options()) option->clear();
  }

  /// complete: whether required options must be present. Throws Error, CLI::CallForHelp or CLI::CallForVersion.
  void parse(const std::vector<std::string>& words, bool complete) {
    take_apart(words);
    refuse_surplus();
    if (const CLI::Option* help = app_.get_help_ptr(); help != nullptr && is_given_on(help)) throw CLI::CallForHelp();
    if (const CLI::Option* config = app_.get_config_ptr(); config != nullptr && given_.contains(config)) {
      apply_settings(given_.at(config).values.front());
    }
    for (CLI::Option* option : app_.get_options()) {
      if (const auto given = given_.find(option); given != given_.end()) apply(*option, given->second);
    }
    apply_environment();
    if (complete) demand_required();
    demand_needed(complete);
  }

 private:
  bool is_given_on(const CLI::Option* option) const {
    const auto given = given_.find(option);
    return given != given_.end() && given->second.values.back() == "true";
  }

  void take_apart(const std::vector<std::string>& words) {
    bool only_arguments = false;
    for (auto word = words.begin(); word != words.end(); ++word) {
      if (only_arguments || word->size() < 2 || word->front() != '-') {
        take_argument(*word);
      } else if (*word == "--") {
        only_arguments = true;
      } else {
        take_option(word, words.end());
      }
    }
  }

  void take_argument(const std::string& word) {
    for (CLI::Option* option : app_.get_options()) {
      if (!option->get_positional()) continue;
      Given& given = given_[option];
      if (given.values.size() >= static_cast<std::size_t>(option->get_items_expected_max())) continue;
      check_value(*option, word, "");
      given.values.push_back(word);
      return;
    }
    std::string names;
    for (const CLI::Option* argument : arguments_of(app_)) names += " " + argument->get_name();
    throw usage_error("found '{}', expected {}", shortened(word),
                      names.empty() ? "options only" : "one argument (" + names.substr(1) + ") and options");
  }

  /// --name, --name=value, --name value, -n, -nvalue, -n value.
  void take_option(std::vector<std::string>::const_iterator& word, std::vector<std::string>::const_iterator end) {
    const bool is_long = word->starts_with("--");
    const std::size_t name_end = is_long ? std::min(word->find('='), word->size()) : 2;
    const std::string name = word->substr(0, name_end);
    CLI::Option* option = app_.get_option_no_throw(name);
    if (option == nullptr || !option->nonpositional()) {
      throw usage_error("found '{}', which is not an option; expected one of those that --help lists", shortened(name));
    }
    Given& given = given_[option];
    const bool has_value = name_end < word->size();
    const std::string value = has_value ? word->substr(name_end + (is_long ? 1 : 0)) : "";
    if (is_flag(*option)) {
      if (has_value) check_flag(*option, value, "");
      given.values = {has_value ? value : "true"};  // the last one counts
      return;
    }
    if (has_value) {
      check_value(*option, value, "");
      given.values.push_back(value);
    } else if (const auto next = std::next(word); next != end && can_be_value(*next, may_stand_alone(*option))) {
      check_value(*option, *next, "");
      given.values.push_back(*next);
      ++word;
    } else if (may_stand_alone(*option)) {
      given.values.emplace_back();
    } else {
      throw usage_error("{}: found no value{}, expected {}", option->get_name(),
                        next != end ? fmt::format(" before '{}'", shortened(*next)) : "", accepted_by(*option));
    }
  }

  /// A number below 0 counts as a value, though it will be refused; a word that begins like an option does not.
  static bool can_be_value(const std::string& word, bool optional) {
    return !word.starts_with(optional ? "-" : "--") || word == "-";
  }

  void check_value(const CLI::Option& option, const std::string& value, const std::string& where) const {
    // An empty value comes from an unset variable, and would be lost on the way to a child process.
    if (value.empty()) {
      throw usage_error("{}: found an empty value, expected {}{}", option.get_name(), accepted_by(option), where);
    }
    if (value.size() > kMostValueBytes) {
      throw usage_error("{}: found '{}', expected {} of at most {} bytes{}", option.get_name(), shortened(value, 40),
                        accepted_by(option), kMostValueBytes, where);
    }
    if (value.find('\0') != std::string::npos) {
      throw usage_error("{}: found a NUL byte, expected {}{}", option.get_name(), accepted_by(option), where);
    }
  }

  void check_flag(const CLI::Option& option, const std::string& value, const std::string& where) const {
    if (value == "true" || value == "false") return;
    throw usage_error("{}: found '{}', expected {}{}", option.get_name(), shortened(value), accepted_by(option), where);
  }

  void refuse_surplus() const {
    for (const auto& [option, given] : given_) {
      if (is_flag(*option) || given.values.size() <= static_cast<std::size_t>(option->get_items_expected_max())) {
        continue;
      }
      throw usage_error("{}: found '{}' and '{}', expected {} once", option->get_name(), shortened(given.values[0]),
                        shortened(given.values[1]), accepted_by(*option));
    }
  }

  void apply_settings(const std::string& file) {
    const std::string name = "--config: " + shortened(file);
    for (const Setting& setting : read_settings(file, name)) {
      const std::string where = fmt::format(" ({}, line {})", shortened(file), setting.line);
      CLI::Option* option = app_.get_option_no_throw("--" + setting.key);
      if (option == nullptr || !option->get_configurable()) {
        throw usage_error(
            "{}: line {}: found the unknown key '{}', expected lines like `slots = 8`, the keys being this program's "
            "options",
            name, setting.line, shortened(setting.key));
      }
      if (!is_flag(*option)) {
        check_value(*option, setting.value, where);
      } else if (setting.quoted) {
        throw usage_error("{}: found '{}' in quotes, expected true or false without quotes{}", option->get_name(),
                          shortened(setting.value), where);
      } else if (setting.value != "true" && setting.value != "false") {
        throw usage_error("{}: found '{}', expected true or false{}", option->get_name(), shortened(setting.value),
                          where);
      }
      apply(*option, {{setting.value}, where});
    }
  }

  void apply_environment() {
    for (CLI::Option* option : app_.get_options()) {
      if (option->count() > 0 || option->get_envname().empty()) continue;
      const char* value = std::getenv(option->get_envname().c_str());
      if (value == nullptr || *value == '\0') continue;
      const std::string where = fmt::format(" (the environment's {})", option->get_envname());
      check_value(*option, value, where);
      apply(*option, {{value}, where});
    }
  }

  /// Checks, converts and stores.
  void apply(CLI::Option& option, const Given& given) {
    option.clear();
    for (const std::string& value : given.values) option.add_result(value);
    try {
      option.run_callback();
    } catch (const CLI::ValidationError& error) {  // from one_of and similar checks, already worded
      throw usage_error("{}{}", error.what(), given.where);
    } catch (const CLI::ConversionError&) {
      throw usage_error("{}: found '{}', expected {}{}", option.get_name(), shortened(given.values.back()),
                        accepted_by(option), given.where);
    }
  }

  void demand_required() const {
    for (const CLI::Option* option : app_.get_options()) {
      if (!option->get_required() || option->count() > 0) continue;
      throw usage_error("{}: found none, expected {}", option->get_name(), accepted_by(*option));
    }
  }

  /// A given option requires that the one it needs is switched on. Settings alone (complete = false) need not name
  /// that.
  void demand_needed(bool complete) const {
    for (const CLI::Option* option : app_.get_options()) {
      if (option->count() == 0 || (is_flag(*option) && is_off(*option))) continue;
      for (const CLI::Option* needed : option->get_needs()) {
        if (!is_off(*needed) || (!complete && needed->count() == 0)) continue;
        const std::string with = needed->count() == 0
                                     ? "without " + needed->get_name()
                                     : fmt::format("with {} {}", needed->get_name(), effective_value(*needed));
        throw usage_error("{}: found {}, which leaves it without effect; expected both, or neither", option->get_name(),
                          with);
      }
    }
  }

  CLI::App& app_;
  std::map<const CLI::Option*, Given> given_;
};

}  // namespace

std::optional<int> parse_or_exit_code(CLI::App& app, int argc, const char* const* argv) {
  app.formatter(std::make_shared<HelpFormatter>());
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  try {
    const std::optional<std::string> form = take_help_form(words);
    if (form) {
      // Settings need not be complete, but every one given must be valid.
      if (*form == kSettingsForm) CommandLine(app).parse(words, false);
      std::cout << help_as(*form, app);
      return static_cast<int>(ExitCode::kDone);
    }
    CommandLine(app).parse(words, true);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return static_cast<int>(ExitCode::kDone);
  } catch (const CLI::CallForVersion& version) {
    std::cout << version.what() << '\n';
    return static_cast<int>(ExitCode::kDone);
  } catch (const Error& error) {
    const int code = static_cast<int>(error.code());
    const bool usage = error.code() == ExitCode::kUsage;
    print_failure(app.get_name(), code,
                  usage ? fmt::format("{} (see {} --help)", error.what(), app.get_name()) : std::string(error.what()));
    return code;
  }
}

}  // namespace ringside
