// SPDX-License-Identifier: BSD-3-Clause
#include "common/reductions/plug_ins/plug_in_spec.hpp"

#include <algorithm>
#include <filesystem>

#include "common/platform/error.hpp"
#include "common/schema/names.hpp"

namespace ringside {

// A path may contain ':' and '=', so the words are taken from the end: settings while they have '=', then the name.
PlugInSpec parse_plug_in(std::string_view text) {
  constexpr const char* kExpected = "expected FILE.so:NAME[:KEY=VALUE]...";
  PlugInSpec spec;
  spec.text = text;
  std::string_view rest = text;
  const auto last_word = [&rest] { return rest.substr(std::min(rest.rfind(':'), rest.size() - 1) + 1); };
  const auto take_away = [&rest](std::string_view word) { rest.remove_suffix(word.size() + 1); };
  while (rest.find(':') != rest.npos && last_word().find('=') != std::string_view::npos &&
         last_word().find('/') > last_word().find('=')) {
    const std::string_view word = last_word();
    const std::size_t equals = word.find('=');
    if (equals == 0) throw usage_error("--reduce-with {}: the setting '{}' has no key; {}", text, word, kExpected);
    std::pair<std::string, std::string> setting{word.substr(0, equals), word.substr(equals + 1)};
    const auto has_key = [&](const auto& other) { return other.first == setting.first; };
    if (std::any_of(spec.settings.begin(), spec.settings.end(), has_key) || (setting.first == "as" && !spec.as.empty())) {
      throw usage_error("--reduce-with {}: found the setting '{}' twice, expected it once", text, setting.first);
    }
    if (setting.first == "as") {
      check_name(setting.second, "--reduce-with: as", "reduction", 0);
      spec.as = setting.second;
    } else {
      spec.settings.insert(spec.settings.begin(), std::move(setting));
    }
    take_away(word);
  }
  if (rest.find(':') != rest.npos && last_word().find('/') == std::string_view::npos) {
    spec.name = last_word();
    take_away(last_word());
    if (spec.name.empty()) throw usage_error("--reduce-with {}: the reduction has no name; {}", text, kExpected);
  }
  if (rest.empty()) throw usage_error("--reduce-with {}: found no file; {}", text, kExpected);
  spec.path = std::filesystem::absolute(std::filesystem::path(rest)).lexically_normal();
  return spec;
}

std::string PlugInSpec::absolute() const {
  std::string whole = path;
  if (!name.empty()) whole += ":" + name;
  for (const auto& [key, value] : settings) whole += ":" + key + "=" + value;
  return as.empty() ? whole : whole + ":as=" + as;
}

}  // namespace ringside
