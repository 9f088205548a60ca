// SPDX-License-Identifier: BSD-3-Clause
#include "common/text/decimal.hpp"

#include <charconv>
#include <system_error>

namespace ringside {
namespace {

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

template <class Number>
std::optional<Number> number_in(std::string_view text) noexcept {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::uint64_t> whole_number(std::string_view text) noexcept {
  return number_in<std::uint64_t>(text);
}

std::optional<double> decimal_number(std::string_view text) noexcept {
  // Require a digit at the start or after the point: std::from_chars also accepts "inf", "nan" and a minus.
  const bool begins = !text.empty() && (is_digit(text[0]) || (text[0] == '.' && text.size() > 1 && is_digit(text[1])));
  return begins ? number_in<double>(text) : std::nullopt;
}

}  // namespace ringside
