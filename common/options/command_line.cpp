// SPDX-License-Identifier: BSD-3-Clause
#include "common/options/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <type_traits>

#include <CLI/CLI.hpp>

#include "common/options/option_checks.hpp"
#include "common/platform/version.hpp"
#include "common/text/printable.hpp"
#include "common/text/wrapped.hpp"

namespace ringside {

struct DeclaredOption {
  CLI::Option* option;
  std::type_index owner;
  std::vector<Option> needs = {};
  bool* given = nullptr;
  bool is_for_own_work = false;
  std::function<std::string(const std::string&, const std::string&)> named = {};
};

struct Declarations {
  CLI::App app;
  std::deque<DeclaredOption> options;  // a deque, because each Option has a pointer to an element
  std::vector<std::string>* program = nullptr;

  Declarations(const std::string& description, const std::string& name) : app(description, name) {}

  Option add(CLI::Option* option, std::type_index owner) {
    return Option(options.emplace_back(DeclaredOption{option, owner}));
  }
};

namespace {

/// The exception with which a Check or a Store reports a refusal through CLI11.
struct Refusal {
  std::string text;
};

/// "--output", or "POOL". CLI11's get_name() is empty for an option that --help does not list.
std::string name_of(const CLI::Option& option) {
  const char* dashes = !option.get_lnames().empty() ? "--" : !option.get_snames().empty() ? "-" : "";
  return dashes + option.get_single_name();
}

OptionDescription described(const DeclaredOption& declared) {
  const CLI::Option& option = *declared.option;
  OptionDescription d;
  d.name = name_of(option);
  d.short_names = option.get_snames();
  d.long_names = option.get_lnames();
  d.meaning = option.get_description();
  d.value_name = option.get_type_name();
  d.default_text = option.get_default_str();
  d.environment = option.get_envname();
  d.group = option.get_group() == "Options" ? "" : option.get_group();  // "Options" is CLI11's default group
  d.is_argument = option.get_positional();
  d.is_flag = option.get_expected_max() == 0;
  d.may_stand_alone = option.get_expected_min() == 0;
  d.is_required = option.get_required();
  d.is_for_own_work = declared.is_for_own_work;
  d.is_listed = !option.get_group().empty();
  d.is_setting = option.get_configurable();
  d.most_values = static_cast<std::size_t>(option.get_items_expected_max());
  if (option.count() > 0) d.given = option.results().back();
  return d;
}

constexpr std::size_t kHelpColumn = 34;  // the column where the descriptions of options begin

/// Formats help as `--flag VALUE   description (default: X)`.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(const Declarations& declarations) : declarations_(declarations) { column_width(kHelpColumn); }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), 0, columns_of_output()) + "\n\n";
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    const std::string usage = CLI::Formatter::make_usage(app, name);
    if (declarations_.program == nullptr) return usage;
    return fmt::format("{}       {} [OPTIONS] {}\n", usage, name, kProgramUsage);
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_name().empty() ? "" : " " + option->get_type_name();
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    const auto found = std::find_if(declarations_.options.begin(), declarations_.options.end(),
                                    [option](const DeclaredOption& declared) { return declared.option == option; });
    const std::string text =
        found == declarations_.options.end() ? option->get_description() : description_of(described(*found));
    // CLI11 itself indents the lines after a line break.
    return replaced(wrapped(text, kHelpColumn, columns_of_output()), "\n" + std::string(kHelpColumn, ' '), "\n");
  }

 private:
  const Declarations& declarations_;
};

/// The type of a single number: int for int and for std::vector<int>.
template <class Value>
struct Element {
  using type = Value;
};
template <class Value>
struct Element<std::optional<Value>> {
  using type = Value;
};
template <class Value>
struct Element<std::vector<Value>> {
  using type = Value;
};
template <class Value>
using NumberIn = typename Element<Value>::type;

}  // namespace

// ---- Option

Option& Option::required() {
  declared_->option->required();
  return *this;
}

Option& Option::required_without_program() {
  declared_->is_for_own_work = true;
  return *this;
}

Option& Option::value_name(const std::string& name) {
  declared_->option->type_name(name);
  return *this;
}

Option& Option::show_default() {
  declared_->option->capture_default_str();
  return *this;
}

Option& Option::show_default(const std::string& text) {
  declared_->option->default_str(text);
  return *this;
}

Option& Option::check(const Check& check) {
  const auto refuse_or_rewrite = [check](std::string& value) {
    if (std::string refusal = check(value); !refusal.empty()) throw Refusal{std::move(refusal)};
    return std::string();
  };
  declared_->option->transform(CLI::Validator(refuse_or_rewrite, ""));
  return *this;
}

Option& Option::needs(const Option& other) {
  declared_->needs.push_back(other);
  return *this;
}

Option& Option::environment(const std::string& variable) {
  declared_->option->envname(variable);
  return *this;
}

Option& Option::group(const std::string& title) {
  declared_->option->group(title);
  return *this;
}

Option& Option::may_stand_alone() {
  declared_->option->expected(0, 1);
  return *this;
}

Option& Option::comma_separated() {
  declared_->option->delimiter(',');
  return *this;
}

Option& Option::times(int least, int most) {
  declared_->option->expected(least, most);
  return *this;
}

Option& Option::table(std::function<std::string(const std::string& name, const std::string& text)> named) {
  declared_->named = std::move(named);
  return *this;
}

std::optional<std::string> Option::named(const std::string& name, const std::string& text) const {
  return declared_->named ? std::optional(declared_->named(name, text)) : std::nullopt;
}

Option& Option::records_given(bool& given) {
  declared_->given = &given;
  return *this;
}

OptionDescription Option::describe() const {
  return described(*declared_);
}

std::vector<Option> Option::needed() const {
  return declared_->needs;
}

std::optional<std::string> Option::store(const std::vector<std::string>& values) {
  CLI::Option& option = *declared_->option;
  if (const auto least = static_cast<std::size_t>(option.get_items_expected_min()); values.size() < least) {
    return fmt::format("{}: found only {}, expected at least {} ({})", name_of(option), shortened(values.back()), least,
                       accepted_by(described(*declared_)));
  }
  option.clear();
  for (const std::string& value : values) option.add_result(value);
  try {
    option.run_callback();
  } catch (const Refusal& refusal) {
    return fmt::format("{}: {}", name_of(option), refusal.text);
  } catch (const CLI::ConversionError&) {
    return fmt::format("{}: found '{}', expected {}", name_of(option), shortened(values.back()),
                       accepted_by(described(*declared_)));
  }
  if (declared_->given != nullptr) *declared_->given = true;
  return std::nullopt;
}

void Option::clear() {
  declared_->option->clear();
}

// ---- OptionSet

Option OptionSet::added(Option option) const {
  return title_.empty() ? option : option.group(title_);
}

template <class Value>
Option OptionSet::option(const std::string& names, Value& value, const std::string& description) {
  Option option = added(declarations_->add(declarations_->app.add_option(names, value, description), owner_));
  // Accept only decimal numbers. CLI11 itself would also read signs, octal and hexadecimal numbers.
  using limits = std::numeric_limits<NumberIn<Value>>;
  if constexpr (std::is_integral_v<NumberIn<Value>>) option.check(whole_number_within(0, limits::max()));
  if constexpr (std::is_floating_point_v<NumberIn<Value>>) option.check(number_within(0, limits::max()));
  return option;
}

template Option OptionSet::option(const std::string&, std::string&, const std::string&);
template Option OptionSet::option(const std::string&, int&, const std::string&);
template Option OptionSet::option(const std::string&, double&, const std::string&);
template Option OptionSet::option(const std::string&, std::uint32_t&, const std::string&);
template Option OptionSet::option(const std::string&, std::uint64_t&, const std::string&);
template Option OptionSet::option(const std::string&, std::optional<std::uint64_t>&, const std::string&);
template Option OptionSet::option(const std::string&, std::vector<int>&, const std::string&);
template Option OptionSet::option(const std::string&, std::vector<std::string>&, const std::string&);

Option OptionSet::option_function(const std::string& names, const Store& store, const std::string& description) {
  const auto checked = [store](const std::string& value) {
    if (std::string refusal = store(value); !refusal.empty()) throw Refusal{std::move(refusal)};
  };
  return added(
      declarations_->add(declarations_->app.add_option_function<std::string>(names, checked, description), owner_));
}

Option OptionSet::flag(const std::string& names, bool& value, const std::string& description) {
  return added(declarations_->add(declarations_->app.add_flag(names, value, description), owner_));
}

// ---- CommandLine

CommandLine::CommandLine(const std::string& description, const std::string& name)
    : declarations_(std::make_unique<Declarations>(description, name)) {
  CLI::App& app = declarations_->app;
  app.formatter(std::make_shared<HelpFormatter>(*declarations_));
  for (CLI::Option* option : {app.get_help_ptr(), app.set_version_flag("-V,--version", version())}) {
    declarations_->add(option, typeid(void));
  }
}

CommandLine::~CommandLine() = default;

void CommandLine::declare_config_file() {
  CLI::Option* config = declarations_->app.set_config(
      "--config", "", "read options from a TOML file; its keys are the option names without dashes");
  declarations_->add(config->type_name("FILE.toml"), typeid(void));
}

void CommandLine::footer(const std::string& text) {
  declarations_->app.footer(text);
}

void CommandLine::take_program(std::vector<std::string>& program) {
  declarations_->program = &program;
}

std::vector<std::string>* CommandLine::program() const noexcept {
  return declarations_->program;
}

std::optional<std::string> CommandLine::value_given(std::string_view name) const {
  for (const DeclaredOption& declared : declarations_->options) {
    if (name_of(*declared.option) == name) return described(declared).given;
  }
  return std::nullopt;
}

std::vector<std::string> CommandLine::arguments_given(const std::vector<std::type_index>& owners) const {
  std::vector<std::string> arguments;
  for (const DeclaredOption& declared : declarations_->options) {
    if (std::find(owners.begin(), owners.end(), declared.owner) == owners.end()) continue;
    const OptionDescription option = described(declared);
    if (!option.given || (option.is_flag && *option.given == "false")) continue;
    for (const std::string& value : declared.option->results()) {
      const bool has_value = !option.is_flag && !value.empty();
      arguments.push_back(has_value ? option.name + "=" + value : option.name);
      if (option.most_values == 1) break;
    }
  }
  return arguments;
}

std::vector<Option> CommandLine::options() const {
  return {declarations_->options.begin(), declarations_->options.end()};
}

CommandDescription CommandLine::describe() const {
  const CLI::App& app = declarations_->app;
  CommandDescription command{app.get_name(),
                             app.get_description(),
                             app.get_footer(),
                             {},
                             app.get_config_ptr() != nullptr,
                             declarations_->program != nullptr};
  for (const DeclaredOption& declared : declarations_->options) command.options.push_back(described(declared));
  return command;
}

std::string CommandLine::help() const {
  // CLI11 sets two empty lines between groups, and one at the end.
  std::string text = replaced(declarations_->app.help(), "\n\n\n", "\n\n");
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace ringside
