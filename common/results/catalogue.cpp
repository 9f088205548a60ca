// SPDX-License-Identifier: BSD-3-Clause
#include "common/results/catalogue.hpp"

#include <algorithm>
#include <unordered_map>

#include "common/platform/error.hpp"
#include "common/schema/names.hpp"
#include "common/text/fixed_text.hpp"

namespace ringside {

struct Catalogue::Content {
  std::vector<ResultDescription> descriptions;
  std::vector<Result> results;
  std::vector<Scalar> scalars;
  std::unordered_map<std::string_view, std::size_t> by_name;  // the keys refer to names in `results`, which do not move
  std::uint64_t words = 0;
  std::uint64_t presence_words = 0;
};

namespace {

constexpr std::uint16_t kAllClasses = 7;

bool is_for(const ResultDescription& reduction, const Variable& variable) noexcept {
  return variable.role == Role::kField &&
         (reduction.classes & static_cast<std::uint16_t>(class_of(variable.dtype))) != 0;
}

template <std::size_t N>
bool is_padded(const char (&field)[N]) noexcept {
  return std::all_of(field + text_of(field).size(), field + N, [](char c) { return c == 0; });
}

/// Makes all checks for which this description is sufficient.
void check_description(const ResultDescription& result, std::size_t index, std::string_view where) {
  const char* kind = result.source == ResultSource::kScalar ? "scalar" : "result";
  check_name(text_of(result.name), where, kind, index);
  check_unit(text_of(result.unit), where, kind, text_of(result.name));
  const auto refuse = [&](std::string_view what, std::uint64_t found, std::string_view expected) {
    throw usage_error("{}: {} '{}': {} {}; expected {}", where, kind, text_of(result.name), what, found, expected);
  };
  const auto type = static_cast<std::uint8_t>(result.type);
  const auto source = static_cast<std::uint8_t>(result.source);
  const bool is_scalar = result.source == ResultSource::kScalar;
  const bool is_reduction = result.source == ResultSource::kReduction;
  if (!is_padded(result.name) || !is_padded(result.unit) ||
      std::any_of(std::begin(result.reserved), std::end(result.reserved), [](unsigned char c) { return c != 0; })) {
    throw usage_error("{}: {} '{}': bytes after its texts are not 0", where, kind, text_of(result.name));
  }
  if (type < 1 || type > (is_scalar ? 2 : 3)) refuse("type", type, is_scalar ? "1 (f64) or 2 (i64)" : "1 to 3");
  if (source < 1 || source > 3) refuse("source", source, "1 to 3");
  if (is_reduction ? result.classes == 0 || result.classes > kAllClasses : result.classes != 0) {
    refuse("classes", result.classes, is_reduction ? "1 to 7" : "0");
  }
  if (result.count == 0 || result.count > kMostResultWords) refuse("count", result.count, "1 to 1048576");
  if (result.flags > kNeedsPrevious) refuse("flags", result.flags, "0 or 1");
  if (!is_reduction && origin_of(result) != Id128{}) refuse("origin", origin_of(result).low, "0");
  if (is_scalar && result.count != 1) refuse("count", result.count, "1");
}

Result result_of(const ResultDescription& description, std::size_t index) {
  return {.full_name = std::string(text_of(description.name)),
          .unit = std::string(text_of(description.unit)),
          .type = description.type,
          .source = description.source,
          .count = description.count,
          .flags = description.flags,
          .origin = origin_of(description),
          .description = static_cast<std::uint32_t>(index)};
}

/// The results with their full names, but without places: reductions by field, then other results, then scalars.
std::vector<Result> expanded(const Schema& schema, std::span<const ResultDescription> descriptions) {
  std::vector<Result> results;
  for (std::size_t v = 0; v < schema.size(); ++v) {
    const Variable& variable = schema.variables()[v];
    for (std::size_t d = 0; d < descriptions.size(); ++d) {
      if (descriptions[d].source != ResultSource::kReduction || !is_for(descriptions[d], variable)) continue;
      Result& result = results.emplace_back(result_of(descriptions[d], d));
      result.full_name = variable.name + "." + result.full_name;
      result.variable = static_cast<std::uint32_t>(v);
      if (result.unit.empty()) result.unit = variable.unit;
    }
  }
  for (const ResultSource source : {ResultSource::kOther, ResultSource::kScalar}) {
    for (std::size_t d = 0; d < descriptions.size(); ++d) {
      if (descriptions[d].source != source) continue;
      Result& result = results.emplace_back(result_of(descriptions[d], d));
      if (source == ResultSource::kScalar) result.full_name = "solver." + result.full_name;
    }
  }
  return results;
}

}  // namespace

Catalogue Catalogue::decode(const Schema& schema, std::span<const ResultDescription> descriptions,
                            std::string_view where) {
  auto content = std::make_shared<Content>();
  content->descriptions.assign(descriptions.begin(), descriptions.end());
  for (std::size_t d = 0; d < descriptions.size(); ++d) {
    check_description(descriptions[d], d, where);
    if (descriptions[d].source != ResultSource::kScalar) continue;
    content->scalars.push_back({.name = std::string(text_of(descriptions[d].name)),
                                .type = descriptions[d].type,
                                .unit = std::string(text_of(descriptions[d].unit))});
  }
  if (content->scalars.size() > kMostScalars) {
    throw usage_error("{}: found {} scalars, expected at most {}", where, content->scalars.size(), kMostScalars);
  }
  content->results = expanded(schema, descriptions);

  const std::uint64_t bits = content->results.size() - content->scalars.size();
  content->presence_words = (bits + 63) / 64;
  content->words = content->presence_words;
  std::uint64_t bit = 0;
  std::uint64_t scalar = 0;
  for (std::size_t r = 0; r < content->results.size(); ++r) {
    Result& result = content->results[r];
    if (const auto [first, is_new] = content->by_name.emplace(result.full_name, r); !is_new) {
      throw usage_error("{}: two results are named '{}'; expected each name once", where, result.full_name);
    }
    if (result.source == ResultSource::kScalar) {
      result.word = scalar++;
      continue;
    }
    result.bit = bit++;
    result.word = content->words;
    content->words += std::uint64_t{result.count} * words_of(result.type);
    if (content->words > kMostResultWords) {
      throw usage_error("{}: the results of a step have more than {} words; expected at most that many", where,
                        kMostResultWords);
    }
  }
  return Catalogue(content);
}

Catalogue Catalogue::of(const Schema& schema, std::span<const ResultDescription> reductions,
                        std::span<const Scalar> scalars, std::span<const ResultDescription> others,
                        std::string_view where) {
  if (scalars.size() > kMostScalars) {
    throw usage_error("{}: found {} scalars, expected at most {}", where, scalars.size(), kMostScalars);
  }
  std::vector<ResultDescription> descriptions;
  for (const ResultDescription& reduction : reductions) {
    const auto is_made_for = [&](const Variable& variable) { return is_for(reduction, variable); };
    if (std::any_of(schema.variables().begin(), schema.variables().end(), is_made_for)) {
      descriptions.push_back(reduction);
    }
  }
  for (std::size_t s = 0; s < scalars.size(); ++s) {
    check_name(scalars[s].name, where, "scalar", s);  // checked first, because description_of would truncate the name
    check_unit(scalars[s].unit, where, "scalar", scalars[s].name);
    descriptions.push_back(description_of(scalars[s]));
  }
  descriptions.insert(descriptions.end(), others.begin(), others.end());
  return decode(schema, descriptions, where);
}

std::span<const ResultDescription> Catalogue::descriptions() const noexcept {
  return content_->descriptions;
}

std::span<const Result> Catalogue::results() const noexcept {
  return content_->results;
}

const Result* Catalogue::find(std::string_view full_name) const noexcept {
  const auto found = content_->by_name.find(full_name);
  return found == content_->by_name.end() ? nullptr : &content_->results[found->second];
}

std::span<const Scalar> Catalogue::scalars() const noexcept {
  return content_->scalars;
}

std::uint64_t Catalogue::words() const noexcept {
  return content_->words;
}

std::uint64_t Catalogue::presence_words() const noexcept {
  return content_->presence_words;
}

}  // namespace ringside
