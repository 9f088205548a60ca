// SPDX-License-Identifier: BSD-3-Clause
#include "cli/terminal/format.hpp"

#include <fmt/format.h>

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

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) * 1e-6);
}

}  // namespace ringside
