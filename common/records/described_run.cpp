// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/described_run.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/records/layout_texts.hpp"
#include "common/text/fixed_text.hpp"

namespace ringside {
namespace {

using google::protobuf::RepeatedPtrField;

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
    if (origin_of(result) != Id128{}) out.set_origin(result.origin, sizeof result.origin);
  }
}

SharedLayout decoded(const RepeatedPtrField<wire::Variable>& schema,
                     const RepeatedPtrField<wire::ResultDescription>& results) {
  if (results.size() > static_cast<int>(kMostDescriptions)) return nullptr;
  LayoutTexts texts;
  for (const wire::Variable& message : schema) {
    texts.schema.push_back({.name = message.name(),
                            .dtype = message.dtype(),
                            .shape = {message.shape().begin(), message.shape().end()},
                            .unit = message.unit(),
                            .role = message.role()});
  }
  for (const wire::ResultDescription& message : results) {
    texts.results.push_back({.name = message.name(),
                             .type = message.type(),
                             .source = message.source(),
                             .classes = message.classes(),
                             .unit = message.unit(),
                             .count = message.count(),
                             .needs_previous = message.needs_previous(),
                             .origin = message.origin()});
  }
  return layout_of(texts);
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

}  // namespace ringside
