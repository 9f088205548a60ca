// SPDX-License-Identifier: BSD-3-Clause
#include "cli/terminal/format.hpp"

#include <fmt/format.h>

#include "common/json/json.hpp"

namespace ringside {

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

double number(const Json& object, const char* key) {
  return object[key].is_number() ? object[key].get<double>() : 0;
}

}  // namespace ringside
