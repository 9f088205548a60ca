// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/described_run.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/platform/error.hpp"
#include "common/platform/fixed_text.hpp"
#include "common/reductions/reduction_catalogue.hpp"

namespace ringside {
namespace {

using google::protobuf::RepeatedPtrField;

// As many as a run's entry in the ring has room for. More would let one small message describe millions of results.
constexpr int kMostDescriptions = 128;

template <class Message>
void fill_description(Message& message, const RecordLayout& layout) {
  for (const Variable& variable : layout.schema().variables()) {
    wire::Variable& out = *message.add_schema();
    out.set_name(variable.name);
    out.set_dtype(std::string(to_string(variable.dtype)));
    for (const std::uint64_t entries : variable.shape) out.add_shape(entries);
    out.set_unit(variable.unit);
    out.set_role(std::string(to_string(variable.role)));
  }
  for (const ResultDescription& result : layout.catalogue().descriptions()) {
    wire::ResultDescription& out = *message.add_results();
    out.set_name(std::string(text_of(result.name)));
    out.set_type(std::string(to_string(result.type)));
    out.set_source(std::string(to_string(result.source)));
    out.set_classes(result.classes);
    out.set_unit(std::string(text_of(result.unit)));
    out.set_count(result.count);
    out.set_needs_previous((result.flags & kNeedsPrevious) != 0);
  }
}

/// The enumerator whose name this is, of those numbered 1 to `last`.
template <class Enumeration>
std::optional<Enumeration> named(std::string_view text, std::uint8_t last) {
  for (std::uint8_t number = 1; number <= last; ++number) {
    if (to_string(Enumeration{number}) == text) return Enumeration{number};
  }
  return std::nullopt;
}

std::optional<Variable> variable_of(const wire::Variable& message) {
  const std::optional<DType> dtype = dtype_named(message.dtype());
  const bool is_field = message.role() == to_string(Role::kField);
  if (!dtype || (!is_field && message.role() != to_string(Role::kState))) return std::nullopt;
  return Variable{.name = message.name(),
                  .dtype = *dtype,
                  .shape = {message.shape().begin(), message.shape().end()},
                  .role = is_field ? Role::kField : Role::kState,
                  .unit = message.unit()};
}

std::optional<ResultDescription> description_of(const wire::ResultDescription& message) {
  const auto type = named<ValueType>(message.type(), 3);
  const auto source = named<ResultSource>(message.source(), 3);
  const bool fits =
      message.name().size() < kNameBytes && message.unit().size() < kUnitBytes && message.classes() <= 0xffff;
  if (!type || !source || !fits) return std::nullopt;
  ResultDescription description;
  assign(description.name, message.name());
  assign(description.unit, message.unit());
  description.type = *type;
  description.source = *source;
  description.classes = static_cast<std::uint16_t>(message.classes());
  description.count = message.count();
  description.flags = message.needs_previous() ? kNeedsPrevious : 0;
  return description;
}

SharedLayout decoded(const RepeatedPtrField<wire::Variable>& schema,
                     const RepeatedPtrField<wire::ResultDescription>& results) {
  if (schema.empty() || results.size() > kMostDescriptions) return nullptr;
  std::vector<Variable> variables;
  std::vector<ResultDescription> descriptions;
  for (const wire::Variable& message : schema) {
    auto variable = variable_of(message);
    if (!variable) return nullptr;
    variables.push_back(std::move(*variable));
  }
  for (const wire::ResultDescription& message : results) {
    const auto description = description_of(message);
    if (!description) return nullptr;
    descriptions.push_back(*description);
  }
  try {
    Schema made = Schema::of(std::move(variables));
    Catalogue catalogue = Catalogue::decode(made, descriptions, "record");
    return std::make_shared<const RecordLayout>(std::move(made), std::move(catalogue));
  } catch (const Error&) {  // no analyzer writes it
    return nullptr;
  }
}

}  // namespace

void describe(wire::RunStarted& message, const RecordLayout& layout) {
  message.clear_schema();
  message.clear_results();
  fill_description(message, layout);
  message.set_payload_bytes(layout.schema().payload_bytes());
}

wire::RunDescribed describe_run(const std::string& run_id, const RecordLayout& layout) {
  wire::RunDescribed message;
  message.set_run_id(run_id);
  fill_description(message, layout);
  return message;
}

SharedLayout layout_of(const wire::RunStarted& message) {
  return decoded(message.schema(), message.results());
}

SharedLayout layout_of(const wire::RunDescribed& message) {
  return decoded(message.schema(), message.results());
}

const SharedLayout& unnamed_results() {
  static const SharedLayout layout = std::make_shared<const RecordLayout>(Schema::x_only(1), x_only_catalogue(1));
  return layout;
}

}  // namespace ringside
