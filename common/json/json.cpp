// SPDX-License-Identifier: BSD-3-Clause
#include "common/json/json.hpp"

#include <algorithm>
#include <istream>
#include <iterator>
#include <numeric>
#include <ostream>
#include <set>

#include <nlohmann/json.hpp>

namespace ringside {

/// Builds the value that nlohmann's parser reads. Open containers are kept on an explicit stack, not by recursion, so
/// that any depth of nesting is possible.
class JsonReader {
 public:
  explicit JsonReader(JsonFlaws* flaws) : flaws_(flaws) {}

  // The parser calls these functions, and stops when one of them returns false.
  bool null() { return add(Json()); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool key(std::string& key) {
    Open& object = open_.back();
    if (flaws_ != nullptr && !object.seen.insert(key).second && !flaws_->repeated_key) flaws_->repeated_key = key;
    std::get<Json::Object>(object.container.value_).keys.push_back(std::move(key));
    return true;
  }
  bool end_array() { return close(); }
  bool end_object() {
    sort(std::get<Json::Object>(open_.back().container.value_));
    return close();
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    error_ = error.what();
    return false;
  }

  /// Of equal keys, the last one is kept.
  static void sort(Json::Object& object) {
    std::vector<std::size_t> order(object.keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return object.keys[a] < object.keys[b]; });
    Json::Object sorted;
    sorted.keys.reserve(order.size());
    sorted.values.reserve(order.size());
    for (const std::size_t i : order) {
      if (!sorted.keys.empty() && sorted.keys.back() == object.keys[i]) {
        sorted.values.back() = std::move(object.values[i]);
      } else {
        sorted.keys.push_back(std::move(object.keys[i]));
        sorted.values.push_back(std::move(object.values[i]));
      }
    }
    object = std::move(sorted);
  }

  Json take() { return std::move(whole_); }
  const std::string& error() const { return error_; }

 private:
  struct Open {
    Json container;
    std::set<std::string> seen;  // the keys so far, if the caller wants to detect flaws
  };

  bool fits() {
    if (flaws_ == nullptr || open_.size() <= flaws_->deepest) return true;
    flaws_->too_deep = true;
    return false;
  }

  bool open(Json container) {
    if (!fits()) return false;
    open_.push_back({std::move(container), {}});
    return true;
  }

  bool close() {
    Json container = std::move(open_.back().container);
    open_.pop_back();
    return place(std::move(container));
  }

  bool add(Json value) { return fits() && place(std::move(value)); }

  bool place(Json value) {
    if (open_.empty()) {
      whole_ = std::move(value);
    } else {
      open_.back().container.children()->push_back(std::move(value));
    }
    return true;
  }

  JsonFlaws* flaws_;
  std::vector<Open> open_;
  Json whole_;
  std::string error_;
};

/// Converts a value to a value of nlohmann's library, with the keys in their order.
struct JsonPrinter {
  static nlohmann::ordered_json printed(const Json& json) {
    using Printed = nlohmann::ordered_json;
    if (const auto* array = std::get_if<Json::Array>(&json.value_)) {
      Printed all = Printed::array();
      for (const Json& value : *array) all.push_back(printed(value));
      return all;
    }
    if (const auto* object = std::get_if<Json::Object>(&json.value_)) {
      Printed all = Printed::object();
      // Appends to the underlying vector: the object's own functions would first search for an equal key.
      auto& members = static_cast<Printed::object_t::Container&>(all.get_ref<Printed::object_t&>());
      members.reserve(object->keys.size());
      for (std::size_t i = 0; i < object->keys.size(); ++i) {
        members.emplace_back(object->keys[i], printed(object->values[i]));
      }
      return all;
    }
    if (const auto* text = std::get_if<std::string>(&json.value_)) return *text;
    if (const auto* number = std::get_if<double>(&json.value_)) return *number;
    if (const auto* number = std::get_if<std::uint64_t>(&json.value_)) return *number;
    if (const auto* number = std::get_if<std::int64_t>(&json.value_)) return *number;
    if (const auto* truth = std::get_if<bool>(&json.value_)) return *truth;
    return json.is_discarded() ? Printed(nlohmann::json::value_t::discarded) : Printed();
  }
};

namespace {

std::string text_of(const Json& json, int indent, bool ascii) {
  return JsonPrinter::printed(json).dump(indent, ' ', ascii, nlohmann::ordered_json::error_handler_t::replace);
}

std::string whole_text(std::istream& text) {
  return {std::istreambuf_iterator<char>(text), std::istreambuf_iterator<char>()};
}

const Json& null_value() {
  static const Json null;
  return null;
}

}  // namespace

Json::Json(std::initializer_list<Json> list) {
  const bool is_object = std::all_of(list.begin(), list.end(), [](const Json& one) {
    return one.is_array() && one.size() == 2 && one.front().is_string();
  });
  *this = is_object ? object(list) : array(list);
}

Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept : value_(std::exchange(other.value_, {})) {}

Json& Json::operator=(Json other) noexcept {
  value_.swap(other.value_);
  return *this;
}

Json::~Json() {
  // Frees one level at a time: a recursive destructor would need a stack as deep as the value.
  std::vector<Json>* own = children();
  if (own == nullptr) return;
  std::vector<Json> pending = std::move(*own);
  while (!pending.empty()) {
    Json last = std::move(pending.back());
    pending.pop_back();
    std::vector<Json>* inner = last.children();
    if (inner == nullptr) continue;
    std::move(inner->begin(), inner->end(), std::back_inserter(pending));
    inner->clear();
  }
}

Json Json::array(std::initializer_list<Json> list) {
  Json json;
  json.value_.emplace<Array>(list);
  return json;
}

Json Json::object(std::initializer_list<Json> list) {
  Json json;
  json.value_.emplace<Object>();
  for (const Json& member : list) {
    if (!json.contains(member.at(0).text())) json[member.at(0).text()] = member.at(1);
  }
  return json;
}

Json Json::parse(std::string_view text) {
  JsonReader reader(nullptr);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &reader)) throw JsonError(reader.error());
  return reader.take();
}

Json Json::try_parse(std::string_view text, JsonFlaws* flaws) {
  JsonReader reader(flaws);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &reader)) return reader.take();
  Json discarded;
  discarded.value_.emplace<Discarded>();
  return discarded;
}

Json Json::try_parse(std::istream& text) {
  return try_parse(whole_text(text));
}

std::string Json::dump(int indent) const {
  return text_of(*this, indent, false);
}
std::string Json::dump_ascii() const {
  return text_of(*this, -1, true);
}
std::string Json::dump_sorted(int indent) const {
  return sorted().dump(indent);
}

Json Json::sorted() const {
  Json json = *this;
  if (auto* members = std::get_if<Object>(&json.value_)) JsonReader::sort(*members);
  if (std::vector<Json>* values = json.children()) {
    for (Json& value : *values) value = value.sorted();
  }
  return json;
}

const std::string& Json::text() const {
  if (!is_string()) refuse("a text");
  return std::get<std::string>(value_);
}

std::size_t Json::size() const noexcept {
  if (const auto* array = std::get_if<Array>(&value_)) return array->size();
  if (const auto* object = std::get_if<Object>(&value_)) return object->values.size();
  return is_null() ? 0 : 1;
}

bool Json::contains(std::string_view key) const noexcept {
  return is_object() && find(key) != end();
}

const Json& Json::at(std::string_view key) const {
  if (!is_object()) refuse("an object");
  const Json* const found = find(key);
  if (found == end()) throw JsonError("the key '" + std::string(key) + "' is missing");
  return *found;
}

const Json& Json::at(std::size_t index) const {
  if (!is_array()) refuse("an array");
  if (index >= size()) throw JsonError("an array of " + std::to_string(size()) + " has no " + std::to_string(index));
  return begin()[index];
}

Json& Json::operator[](std::string_view key) {
  Object& object = as_object();
  const auto found = std::find(object.keys.begin(), object.keys.end(), key);
  if (found != object.keys.end()) return object.values[static_cast<std::size_t>(found - object.keys.begin())];
  object.keys.emplace_back(key);
  return object.values.emplace_back();
}

Json& Json::operator[](std::size_t index) {
  Array& array = as_array();
  if (index >= array.size()) array.resize(index + 1);
  return array[index];
}

const Json& Json::operator[](std::string_view key) const noexcept {
  return contains(key) ? *find(key) : null_value();
}

const Json& Json::operator[](std::size_t index) const noexcept {
  return is_array() && index < size() ? begin()[index] : null_value();
}

Json* Json::begin() noexcept {
  std::vector<Json>* const own = children();
  return own == nullptr ? this : own->data();
}

const Json* Json::find(std::string_view key) const noexcept {
  const auto* object = std::get_if<Object>(&value_);
  if (object == nullptr) return end();
  return begin() + (std::find(object->keys.begin(), object->keys.end(), key) - object->keys.begin());
}

Json::Items<Json> Json::items() noexcept {
  auto* object = std::get_if<Object>(&value_);
  if (object == nullptr) return {nullptr, nullptr, 0};
  return {object->keys.data(), object->values.data(), object->keys.size()};
}

Json::Items<const Json> Json::items() const noexcept {
  const auto* object = std::get_if<Object>(&value_);
  if (object == nullptr) return {nullptr, nullptr, 0};
  return {object->keys.data(), object->values.data(), object->keys.size()};
}

Json& Json::emplace_back(Json value) {
  return as_array().emplace_back(std::move(value));
}

void Json::erase(std::string_view key) {
  const Json* const found = find(key);
  if (!is_object() || found == end()) return;
  auto& object = std::get<Object>(value_);
  const auto place = found - std::as_const(*this).begin();
  object.keys.erase(object.keys.begin() + place);
  object.values.erase(object.values.begin() + place);
}

void Json::update(const Json& object) {
  as_object();
  for (const auto& [key, value] : object.items()) (*this)[key] = value;
}

bool operator==(const Json& a, const Json& b) noexcept {
  if (a.is_number() && b.is_number()) {
    if (a.is_number_float() || b.is_number_float()) return a.number<double>() == b.number<double>();
    // Like nlohmann: if the numbers differ in signedness, the unsigned one is read as signed. If the signedness is
    // equal, this comparison compares the bits.
    return a.number<std::int64_t>() == b.number<std::int64_t>();
  }
  if (a.value_.index() != b.value_.index() || a.size() != b.size()) return false;
  if (a.is_null() || a.is_discarded()) return a.is_null();
  if (a.is_boolean()) return std::get<bool>(a.value_) == std::get<bool>(b.value_);
  if (a.is_string()) return a.text() == b.text();
  if (a.is_array()) return std::equal(a.begin(), a.end(), b.begin());
  for (const auto& [key, value] : a.items()) {
    const Json* const other = b.find(key);
    if (other == b.end() || !(*other == value)) return false;
  }
  return true;
}

std::partial_ordering operator<=>(const Json& a, const Json& b) noexcept {
  if (a.is_string() && b.is_string()) return a.text() <=> b.text();
  if (!a.is_number() || !b.is_number()) return std::partial_ordering::unordered;
  if (a.is_number_float() || b.is_number_float()) return a.number<double>() <=> b.number<double>();
  if (a.is_number_unsigned() && b.is_number_unsigned()) return a.number<std::uint64_t>() <=> b.number<std::uint64_t>();
  return a.number<std::int64_t>() <=> b.number<std::int64_t>();
}

std::ostream& operator<<(std::ostream& out, const Json& json) {
  return out << json.dump();
}

std::vector<Json>* Json::children() noexcept {
  if (auto* array = std::get_if<Array>(&value_)) return array;
  if (auto* object = std::get_if<Object>(&value_)) return &object->values;
  return nullptr;
}

Json::Object& Json::as_object() {
  if (is_null()) value_.emplace<Object>();
  if (!is_object()) refuse("an object");
  return std::get<Object>(value_);
}

Json::Array& Json::as_array() {
  if (is_null()) value_.emplace<Array>();
  if (!is_array()) refuse("an array");
  return std::get<Array>(value_);
}

void Json::refuse(const char* expected) const {
  throw JsonError("found " + text_of(is_structured() ? Json(is_array() ? "an array" : "an object") : *this, -1, false) +
                  ", expected " + expected);
}

}  // namespace ringside
