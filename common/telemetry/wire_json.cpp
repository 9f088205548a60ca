// SPDX-License-Identifier: BSD-3-Clause
#include "common/telemetry/wire_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace ringside {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using nlohmann::ordered_json;

std::string hexadecimal(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

ordered_json finite_or_null(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

ordered_json fields_of(const Message& message);

ordered_json value_of(const Message& message, const Reflection& reflection, const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT64:
      // 64 random bits: as a number it would lose digits in JavaScript and jq.
      if (field.name() == "analyzer_id") return fmt::format("{:016x}", reflection.GetUInt64(message, &field));
      return reflection.GetUInt64(message, &field);
    case FieldDescriptor::CPPTYPE_INT64: return reflection.GetInt64(message, &field);
    case FieldDescriptor::CPPTYPE_UINT32: return reflection.GetUInt32(message, &field);
    case FieldDescriptor::CPPTYPE_DOUBLE: return finite_or_null(reflection.GetDouble(message, &field));
    case FieldDescriptor::CPPTYPE_BOOL: return reflection.GetBool(message, &field);
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = reflection.GetString(message, &field);
      return field.type() == FieldDescriptor::TYPE_BYTES ? hexadecimal(text) : text;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return reflection.HasField(message, &field) ? fields_of(reflection.GetMessage(message, &field)) : ordered_json();
    default: return {};
  }
}

ordered_json fields_of(const Message& message) {
  ordered_json object = ordered_json::object();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(i);
    object[field.name()] = value_of(message, *message.GetReflection(), field);
  }
  return object;
}

}  // namespace

ordered_json to_json(const wire::Record& record) {
  ordered_json object = {{"seq", record.seq()}, {"unix_ns", record.unix_ns()}};
  const Reflection& reflection = *record.GetReflection();
  const FieldDescriptor* what = reflection.GetOneofFieldDescriptor(record, record.GetDescriptor()->oneof_decl(0));
  if (what == nullptr) return object;
  object["event"] = what->name();
  object.update(fields_of(reflection.GetMessage(record, what)));
  return object;
}

ordered_json to_json(const wire::Status& status) {
  return fields_of(status);
}

}  // namespace ringside
