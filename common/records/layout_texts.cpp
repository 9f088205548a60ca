// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/layout_texts.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/platform/error.hpp"
#include "common/text/fixed_text.hpp"

namespace ringside {
namespace {

/// The enumerator whose name this is, of those numbered 1 to `last`.
template <class Enumeration>
std::optional<Enumeration> named(std::string_view text, std::uint8_t last) {
  for (std::uint8_t number = 1; number <= last; ++number) {
    if (to_string(Enumeration{number}) == text) return Enumeration{number};
  }
  return std::nullopt;
}

std::optional<Variable> variable_of(const VariableTexts& texts) {
  const std::optional<DType> dtype = dtype_named(texts.dtype);
  const bool is_field = texts.role == to_string(Role::kField);
  if (!dtype || (!is_field && texts.role != to_string(Role::kState))) return std::nullopt;
  return Variable{.name = texts.name,
                  .dtype = *dtype,
                  .shape = texts.shape,
                  .role = is_field ? Role::kField : Role::kState,
                  .unit = texts.unit};
}

std::optional<ResultDescription> description_of(const ResultTexts& texts) {
  const auto type = named<ValueType>(texts.type, 3);
  const auto source = named<ResultSource>(texts.source, 3);
  const bool fits = texts.name.size() < kNameBytes && texts.unit.size() < kUnitBytes && texts.classes <= 0xffff &&
                    (texts.origin.empty() || texts.origin.size() == sizeof ResultDescription::origin);
  if (!type || !source || !fits) return std::nullopt;
  ResultDescription description;
  assign(description.name, texts.name);
  assign(description.unit, texts.unit);
  description.type = *type;
  description.source = *source;
  description.classes = static_cast<std::uint16_t>(texts.classes);
  description.count = texts.count;
  description.flags = texts.needs_previous ? kNeedsPrevious : 0;
  std::copy_n(texts.origin.begin(), texts.origin.size(), description.origin);
  return description;
}

}  // namespace

SharedLayout layout_of(const LayoutTexts& texts) {
  if (texts.schema.empty() || texts.results.size() > kMostDescriptions) return nullptr;
  std::vector<Variable> variables;
  std::vector<ResultDescription> descriptions;
  for (const VariableTexts& variable_texts : texts.schema) {
    auto variable = variable_of(variable_texts);
    if (!variable) return nullptr;
    variables.push_back(std::move(*variable));
  }
  for (const ResultTexts& result_texts : texts.results) {
    const auto description = description_of(result_texts);
    if (!description) return nullptr;
    descriptions.push_back(*description);
  }
  try {
    Schema made = Schema::of_whole(std::move(variables));  // a journal may be that of a whole run
    Catalogue catalogue = Catalogue::decode(made, descriptions, "record");
    return std::make_shared<const RecordLayout>(std::move(made), std::move(catalogue));
  } catch (const Error&) {  // no analyzer writes it
    return nullptr;
  }
}

}  // namespace ringside
