// SPDX-License-Identifier: BSD-3-Clause
#include "cli/terminal/format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/json/json.hpp"

namespace ringside {
namespace {

/// The number of terminal columns that a text takes: the bytes after the first byte of a character are not counted.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string with_separators(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text.push_back(',');
    text.push_back(digits[i]);
  }
  return text;
}

std::string counted(std::uint64_t number, std::string_view noun) {
  const char* ending = number == 1 ? "" : noun.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", with_separators(number), noun, ending);
}

std::string megabytes(std::uint64_t bytes) {
  if (bytes > 0 && bytes < 100'000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) * 1e-3);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) * 1e-6);
}

std::string run_time(double seconds, double total) {
  if (total >= 1) return fmt::format("{:.3f} s", seconds);
  return fmt::format("{:.{}f} ms", 1e3 * seconds, total >= 0.1 ? 0 : 3);
}

std::string columns_text(const std::vector<std::vector<std::string>>& rows, const std::vector<bool>& words) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string blanks(widths[c] - width_of(row[c]), ' ');
      line += "  " + (c < words.size() && words[c] ? row[c] + blanks : blanks + row[c]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

double number(const Json& object, const char* key) {
  return object[key].is_number() ? object[key].get<double>() : 0;
}

}  // namespace ringside
