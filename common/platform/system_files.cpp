// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/system_files.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ringside {

std::optional<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> number_in(const std::string& path) {
  const std::optional<std::string> line = first_line(path);
  return line ? number_of(*line) : std::nullopt;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

std::vector<std::string> entries_of(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool kernel_before(const std::string& release, std::int64_t major, std::int64_t minor) {
  const std::int64_t its_major = number_of(release).value_or(0);
  const std::size_t dot = release.find('.');
  const std::int64_t its_minor =
      dot == std::string::npos ? 0 : number_of(std::string_view(release).substr(dot + 1)).value_or(0);
  return its_major < major || (its_major == major && its_minor < minor);
}

}  // namespace ringside
