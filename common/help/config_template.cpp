// SPDX-License-Identifier: BSD-3-Clause
#include "common/help/config_template.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/help/manual_page.hpp"
#include "common/text/decimal.hpp"

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

std::string line_of(const OptionDescription& option) {
  const std::string key = option.long_names.front();
  if (option.given) return fmt::format("{} = {}", key, option.is_flag ? *option.given : value_text(*option.given));
  if (option.is_flag) return fmt::format("#{} = false", key);
  // An option without a default shows the name of its value instead.
  return fmt::format("#{} = {}", key,
                     value_text(option.default_text.empty() ? option.value_name : option.default_text));
}

}  // namespace

std::string config_template(const CommandDescription& command) {
  const std::string page = replaced(command.name, " ", "-");
  std::string text = wrapped(
      fmt::format(
          "Settings of `{}`, which it reads if it is started with --config and this file. The keys are its options "
          "({}(1)). A key behind a # is not set: it shows its default, or the kind of its value if it has none.",
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

}  // namespace ringside
