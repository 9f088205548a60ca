#include "common/options/config_template.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <CLI/CLI.hpp>

#include "common/options/manual_page.hpp"
#include "common/options/option_text.hpp"
#include "common/platform/decimal.hpp"

namespace ringside {
namespace {

constexpr std::size_t kColumns = 100;

/// `text` as a TOML value: numbers and truth values bare, anything else in quotes.
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

std::string line_of(const CLI::Option& option) {
  const std::string key = option.get_lnames().front();
  const bool flag = value_of(option).kind == OptionValue::Kind::kNone;
  if (option.count() > 0) {
    return flag ? fmt::format("{} = {}", key, option.as<bool>())
                : fmt::format("{} = {}", key, value_text(option.results().back()));
  }
  if (flag) return fmt::format("#{} = false", key);
  // An option without a default shows the name of its value instead.
  return fmt::format("#{} = {}", key,
                     value_text(option.get_default_str().empty() ? option.get_type_name() : option.get_default_str()));
}

}  // namespace

std::string config_template(const CLI::App& app) {
  const std::string page = replaced(app.get_name(), " ", "-");
  std::string text = wrapped(
      fmt::format("Settings of `{}`, read where it is started with --config and this file. The keys are its options "
                  "({}(1)). What follows a # is not set: a key shows its default, or in capitals what may be given.",
                  app.get_name(), page),
      kColumns, "# ");
  text += "\n";
  if (const std::string_view path = service_settings(app.get_name()); !path.empty()) {
    text += fmt::format("# The service reads {}.\n", path);
  }
  for (const OptionGroup& group : option_groups_of(app)) {
    std::string keys;
    for (const CLI::Option* option : group.options) {
      const bool of_the_command_line =
          option == app.get_help_ptr() || option == app.get_config_ptr() || option == app.get_version_ptr();
      if (of_the_command_line || option->get_lnames().empty()) continue;
      std::string meaning = option->get_description();
      if (option->get_required()) meaning += " (required)";
      keys += fmt::format("\n{}\n{}\n", wrapped(meaning, kColumns, "# "), line_of(*option));
    }
    if (!keys.empty() && !group.name.empty()) text += fmt::format("\n# ==== {} ====\n", group.name);
    text += keys;
  }
  return text;
}

}  // namespace ringside
