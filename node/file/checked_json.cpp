// SPDX-License-Identifier: BSD-3-Clause
#include "node/file/checked_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/platform/error.hpp"
#include "common/text/printable.hpp"

namespace ringside {

void CheckedJson::refuse(const std::string& accepted) const {
  constexpr std::size_t kShown = 60;
  // The message names a container's kind instead of printing it, because a container in a long file may be nested very
  // deeply.
  const std::string found = value_->is_structured() ? (value_->is_array() ? "a list" : "an object") : value_->dump();
  throw usage_error("{}: {}: found {}, expected {}", *file_, place_.empty() ? "the file" : place_,
                    shortened(found, kShown), accepted);
}

void CheckedJson::expect_object(std::initializer_list<std::string_view> keys) const {
  if (!value_->is_object()) refuse(fmt::format("an object with the keys {}", fmt::join(keys, ", ")));
  for (const auto& [key, value] : value_->items()) {
    if (std::find(keys.begin(), keys.end(), std::string_view(key)) != keys.end()) continue;
    throw usage_error("{}: {}: found the key '{}', expected only {}", *file_, place_.empty() ? "the file" : place_,
                      shortened(key), joined(keys, ", "));
  }
}

CheckedJson CheckedJson::at(std::string_view key) const {
  if (std::optional<CheckedJson> found = find(key)) return *found;
  throw usage_error("{}: {}: the key '{}' is missing", *file_, place_.empty() ? "the file" : place_, key);
}

std::optional<CheckedJson> CheckedJson::find(std::string_view key) const {
  const auto found = value_->find(std::string(key));
  if (found == value_->end()) return std::nullopt;
  return CheckedJson(*found, *file_, place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key));
}

std::vector<CheckedJson> CheckedJson::items(std::size_t least, std::size_t most) const {
  if (!value_->is_array() || value_->size() < least || value_->size() > most) {
    refuse(least == most ? fmt::format("a list of {} values", least)
                         : fmt::format("a list of {} to {} values", least, most));
  }
  std::vector<CheckedJson> items;
  for (std::size_t i = 0; i < value_->size(); ++i) {
    items.emplace_back((*value_)[i], *file_, fmt::format("{}[{}]", place_, i));
  }
  return items;
}

std::string CheckedJson::text() const {
  if (!value_->is_string()) refuse("a text");
  return value_->get<std::string>();
}

bool CheckedJson::truth() const {
  if (!value_->is_boolean()) refuse("true or false");
  return value_->get<bool>();
}

std::uint64_t CheckedJson::count(std::uint64_t least, std::uint64_t most) const {
  if (!value_->is_number_unsigned() || value_->get<std::uint64_t>() < least || value_->get<std::uint64_t>() > most) {
    refuse(fmt::format("an integer from {} to {}", least, most));
  }
  return value_->get<std::uint64_t>();
}

double CheckedJson::positive() const {
  constexpr double kLeast = 1e-15;
  constexpr double kMost = 1e15;
  if (!value_->is_number() || !(value_->get<double>() >= kLeast && value_->get<double>() <= kMost)) {
    refuse(fmt::format("a number from {:g} to {:g}", kLeast, kMost));
  }
  return value_->get<double>();
}

double CheckedJson::spread() const {
  constexpr double kMost = 1e6;
  if (!value_->is_number() || !(value_->get<double>() >= 0 && value_->get<double>() <= kMost)) {
    refuse(fmt::format("a number from 0 to {:g}", kMost));
  }
  return value_->get<double>();
}

}  // namespace ringside
