// SPDX-License-Identifier: BSD-3-Clause
#include "common/options/option_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "common/text/decimal.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

std::string refusal(const std::string& text, const std::string& expected) {
  return fmt::format("found '{}', expected {}", shortened(text), expected);
}

}  // namespace

Check one_of(const std::vector<std::string>& accepted, const std::map<std::string, std::string>& former) {
  return [accepted, former](std::string& text) -> std::string {
    if (const auto found = former.find(text); found != former.end()) text = found->second;
    if (std::find(accepted.begin(), accepted.end(), text) != accepted.end()) return {};
    return refusal(text, fmt::format("{}", fmt::join(accepted, "|")));
  };
}

Check word_or_folder(const std::string& word, const std::string& prefix) {
  return [word, prefix](std::string& text) -> std::string {
    if (text == word || (text.starts_with(prefix) && text.size() > prefix.size())) return {};
    return refusal(text, fmt::format("{} or {}DIR", word, prefix));
  };
}

Check whole_number_within(std::uint64_t low, std::uint64_t high) {
  return [low, high](std::string& text) -> std::string {
    const std::optional<std::uint64_t> number = whole_number(text);
    if (!number || *number < low || *number > high) {
      return refusal(text, fmt::format("a number from {} to {}", low, high));
    }
    text = std::to_string(*number);
    return {};
  };
}

Check number_within(double low, double high) {
  return [low, high](std::string& text) -> std::string {
    const std::optional<double> number = decimal_number(text);
    if (number && *number >= low && *number <= high) return {};
    return refusal(text, fmt::format("a number from {} to {}", low, high));
  };
}

Check number_between(double above, double below) {
  return [above, below](std::string& text) -> std::string {
    const std::optional<double> number = decimal_number(text);
    if (number && *number > above && *number < below) return {};
    return refusal(text, fmt::format("a number above {} and below {}", above, below));
  };
}

Check journal_size() {
  // The lower limit is at least twice libpmemlog's smallest pool.
  return size_within(std::uint64_t{4} << 20, std::uint64_t{1} << 30, "4M to 1G");
}

Check size_within(std::uint64_t low, std::uint64_t high, const std::string& limits) {
  return [low, high, limits](std::string& text) -> std::string {
    std::string_view digits = text;
    const std::size_t unit = digits.empty() ? std::string_view::npos : std::string_view("KMG").find(digits.back());
    if (unit != std::string_view::npos) digits.remove_suffix(1);
    std::uint64_t bytes = whole_number(digits).value_or(0);
    for (std::size_t i = 0; unit != std::string_view::npos && i <= unit && bytes <= high; ++i) bytes *= 1024;
    if (bytes < low || bytes > high) {
      return refusal(text, fmt::format("bytes from {}, with K, M or G for powers of 1024", limits));
    }
    text = std::to_string(bytes);
    return {};
  };
}

}  // namespace ringside
