// SPDX-License-Identifier: BSD-3-Clause
#include "common/telemetry/wire_json.hpp"

#include <fmt/format.h>

#include <string>
#include <type_traits>

#include "common/records/analysis_results.hpp"
#include "common/records/shown_results.hpp"
#include "common/text/hex.hpp"

namespace ringside {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

/// Converts a message field by field; steps and analysis results get their results by name.
class Writer {
 public:
  explicit Writer(const ResultNames& names) : names_(names) {}

  Json fields_of(const Message& message) const {
    Json object = Json::object();
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor& field = *message.GetDescriptor()->field(i);
      object[field.name()] = value_of(message, *message.GetReflection(), field);
    }
    if (const auto* step = dynamic_cast<const wire::StepRecord*>(&message)) add_results(object, *step);
    if (const auto* results = dynamic_cast<const wire::AnalysisResults*>(&message)) {
      object.erase("name");
      object.erase("value");
      Json& by_name = object["results"] = Json::object();
      for_each_result(*results, [&](const std::string& name, double value) { by_name[name] = number_or_null(value); });
    }
    return object;
  }

 private:
  Json value_of(const Message& message, const Reflection& reflection, const FieldDescriptor& field) const {
    if (field.is_repeated()) return values_of(message, reflection, field);
    if (field.has_presence() && !reflection.HasField(message, &field)) return {};
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_UINT64:
        // The id is 64 random bits: as a number it would lose digits in JavaScript and jq.
        if (field.name() == "analyzer_id") return fmt::format("{:016x}", reflection.GetUInt64(message, &field));
        return reflection.GetUInt64(message, &field);
      case FieldDescriptor::CPPTYPE_INT64: return reflection.GetInt64(message, &field);
      case FieldDescriptor::CPPTYPE_UINT32: return reflection.GetUInt32(message, &field);
      case FieldDescriptor::CPPTYPE_DOUBLE: return number_or_null(reflection.GetDouble(message, &field));
      case FieldDescriptor::CPPTYPE_BOOL: return reflection.GetBool(message, &field);
      case FieldDescriptor::CPPTYPE_STRING: {
        const std::string text = reflection.GetString(message, &field);
        return field.type() == FieldDescriptor::TYPE_BYTES ? hex(text) : text;
      }
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (field.message_type() == wire::Results::descriptor()) return {};  // written by add_results, with names
        return fields_of(reflection.GetMessage(message, &field));
      default: return {};
    }
  }

  Json values_of(const Message& message, const Reflection& reflection, const FieldDescriptor& field) const {
    Json array = Json::array();
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      switch (field.cpp_type()) {
        case FieldDescriptor::CPPTYPE_MESSAGE:
          array.push_back(fields_of(reflection.GetRepeatedMessage(message, &field, i)));
          break;
        case FieldDescriptor::CPPTYPE_UINT64: array.push_back(reflection.GetRepeatedUInt64(message, &field, i)); break;
        case FieldDescriptor::CPPTYPE_DOUBLE:
          array.push_back(number_or_null(reflection.GetRepeatedDouble(message, &field, i)));
          break;
        case FieldDescriptor::CPPTYPE_STRING: array.push_back(reflection.GetRepeatedString(message, &field, i)); break;
        default: break;
      }
    }
    return array;
  }

  void add_results(Json& object, const wire::StepRecord& step) const {
    const StepResults results = names_.results(step);
    object["results"] = to_json(results);
    if (!step.has_results()) return;  // a record of an older release, which has values for the older keys
    const ShownFigures shown = shown_of(results);
    object["residual_l1"] = number_or_null(shown.residual_l1);
    object["residual_linf"] = number_or_null(shown.residual_linf);
    object["reductions"] = shown.reductions ? reductions_of(*shown.reductions) : Json();
  }

  static Json reductions_of(const ReductionScalars& scalars) {
    Json object = Json::object();
    for_each_scalar([&](std::string_view name, auto scalar, auto) {
      using Value = std::remove_cvref_t<decltype(scalars.*scalar)>;
      if constexpr (std::is_same_v<Value, double>) {
        const bool absent = name.starts_with("change_") && !scalars.has_change;
        object[std::string(name)] = absent ? Json() : number_or_null(scalars.*scalar);
      } else {
        object[std::string(name)] = scalars.*scalar;
      }
    });
    return object;
  }

  const ResultNames& names_;
};

}  // namespace

Json to_json(const wire::Record& record, const ResultNames& names) {
  Json object = {{"seq", record.seq()}, {"unix_ns", record.unix_ns()}};
  const Reflection& reflection = *record.GetReflection();
  const FieldDescriptor* what = reflection.GetOneofFieldDescriptor(record, record.GetDescriptor()->oneof_decl(0));
  if (what == nullptr) return object;
  object["event"] = what->name();
  object.update(Writer(names).fields_of(reflection.GetMessage(record, what)));
  return object;
}

Json to_json(const wire::Status& status) {
  ResultNames names;
  names.learn(status.run());
  return Writer(names).fields_of(status);
}

}  // namespace ringside
