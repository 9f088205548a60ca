// SPDX-License-Identifier: BSD-3-Clause
// A JSON value: null, true or false, a number, a text, an array or an object. The functions have the same names and
// meanings as in nlohmann/json, which reads and prints the text (json.cpp). This header replaces that library's header,
// which would add two seconds to the compilation of every file.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace ringside {

class Json;

/// Thrown when a value has another type, a key or an index is missing, or a text is not JSON.
class JsonError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Further checks that `Json::try_parse` makes in a text, and their results.
struct JsonFlaws {
  std::size_t deepest = std::numeric_limits<std::size_t>::max();  // input: the most containers that may contain a value
  bool too_deep = false;                    // result: whether a value is in more of them; the text is then discarded
  std::optional<std::string> repeated_key;  // result: the first key that occurs twice in one object
};

template <class T>
concept JsonRange =
    !std::is_same_v<T, Json> && !std::is_convertible_v<const T&, std::string_view> && requires(const T& range) {
  range.begin();
  range.end();
  range.size();
};

class Json {
 public:
  /// A member of an object: an element of what `items` returns.
  template <class Value>
  struct Item {
    const std::string& key;
    Value& value;
  };
  template <class Value>
  class Items;

  Json() noexcept = default;  // null
  Json(std::nullptr_t) noexcept {}
  Json(std::string text) noexcept : value_(std::move(text)) {}
  Json(std::string_view text) : value_(std::string(text)) {}
  Json(const char* text) : value_(std::string(text)) {}
  template <class Number>
  requires std::is_arithmetic_v<Number> Json(Number number)
  noexcept : value_(static_cast<Held<Number>>(number)) {}
  /// An array of the values of a range; a map becomes an object.
  template <JsonRange Range>
  Json(const Range& range);
  /// Makes an array of two values.
  template <class First, class Second>
  Json(const std::pair<First, Second>& pair) : Json(array({pair.first, pair.second})) {}
  template <class T, std::size_t count>
  requires(!std::is_same_v<T, char>) Json(const T (&values)[count]) : Json(std::vector<T>(values, values + count)) {}
  /// An object if every element is an array of a text and a value, as in {{"a", 1}, {"b", 2}}; otherwise an array.
  Json(std::initializer_list<Json> list);

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();  // also works for deeply nested values

  static Json array(std::initializer_list<Json> list = {});
  static Json object(std::initializer_list<Json> list = {});

  /// Parses a text. The keys of objects are sorted and unique: of equal keys the last one is kept. Throws JsonError.
  static Json parse(std::string_view text);
  /// Like `parse`, but returns a discarded value if the text is not JSON.
  static Json try_parse(std::string_view text, JsonFlaws* flaws = nullptr);
  static Json try_parse(std::istream& text);
  bool is_discarded() const noexcept { return holds<Discarded>(); }

  /// The value as text. indent: the number of blanks for each level; if it is below 0, the text is one line. Invalid
  /// UTF-8 is replaced by U+FFFD.
  std::string dump(int indent = -1) const;
  std::string dump_ascii() const;                  // one line; characters that are not ASCII are escaped
  std::string dump_sorted(int indent = -1) const;  // with the keys of all objects sorted
  /// A copy with the keys of all objects sorted.
  Json sorted() const;

  bool is_null() const noexcept { return holds<std::monostate>(); }
  bool is_boolean() const noexcept { return holds<bool>(); }
  bool is_number() const noexcept { return is_number_integer() || is_number_float(); }
  bool is_number_integer() const noexcept { return holds<std::int64_t>() || is_number_unsigned(); }
  bool is_number_unsigned() const noexcept { return holds<std::uint64_t>(); }  // true for parsed numbers without a sign
  bool is_number_float() const noexcept { return holds<double>(); }
  bool is_string() const noexcept { return holds<std::string>(); }
  bool is_array() const noexcept { return holds<Array>(); }
  bool is_object() const noexcept { return holds<Object>(); }
  bool is_structured() const noexcept { return is_array() || is_object(); }

  /// The value as a number (converted), bool, std::string, std::vector<std::string> or Json. Throws JsonError if it has
  /// another type.
  template <class T>
  T get() const;
  /// The text itself. Throws JsonError if it is not a text.
  const std::string& text() const;

  std::size_t size() const noexcept;  // 0 for null, 1 for a text or number
  bool empty() const noexcept { return size() == 0; }

  bool contains(std::string_view key) const noexcept;  // whether this is an object with that key
  /// These functions throw JsonError if the element does not exist.
  Json& at(std::string_view key) { return const_cast<Json&>(std::as_const(*this).at(key)); }
  const Json& at(std::string_view key) const;
  Json& at(std::size_t index) { return const_cast<Json&>(std::as_const(*this).at(index)); }
  const Json& at(std::size_t index) const;
  /// A null becomes an object or an array, and a missing element is added. Both functions throw JsonError for a value
  /// of any other type.
  Json& operator[](std::string_view key);
  Json& operator[](std::size_t index);
  /// Null if the element does not exist.
  const Json& operator[](std::string_view key) const noexcept;
  const Json& operator[](std::size_t index) const noexcept;
  /// The value of a key, or `otherwise` if it is missing. Throws JsonError if this is not an object, or the value has
  /// another type.
  template <class T>
  T value(std::string_view key, const T& otherwise) const;
  std::string value(std::string_view key, const char* otherwise) const { return value(key, std::string(otherwise)); }

  /// The values of an array or an object. A single value is a range of one element, null an empty range.
  Json* begin() noexcept;
  Json* end() noexcept { return begin() + size(); }
  const Json* begin() const noexcept { return const_cast<Json*>(this)->begin(); }
  const Json* end() const noexcept { return begin() + size(); }
  /// Returns end() if the key does not exist.
  Json* find(std::string_view key) noexcept { return const_cast<Json*>(std::as_const(*this).find(key)); }
  const Json* find(std::string_view key) const noexcept;
  /// The members of an object: for (const auto& [key, value] : json.items()).
  Items<Json> items() noexcept;
  Items<const Json> items() const noexcept;

  /// The first and the last value of an array. Both functions throw JsonError if the array is empty.
  const Json& front() const { return at(0); }
  const Json& back() const { return at(size() - 1); }
  Json& back() { return at(size() - 1); }

  void push_back(Json value) { emplace_back(std::move(value)); }
  Json& emplace_back(Json value);  // a null becomes an array first
  void erase(std::string_view key);
  /// Adds the members of another object, in its order, or replaces those with equal keys.
  void update(const Json& object);

  /// Numbers are compared by value. The order of keys does not matter.
  friend bool operator==(const Json& a, const Json& b) noexcept;
  /// Orders two numbers, or two texts.
  friend std::partial_ordering operator<=>(const Json& a, const Json& b) noexcept;
  friend std::ostream& operator<<(std::ostream& out, const Json& json);

 private:
  struct Discarded {};
  using Array = std::vector<Json>;
  struct Object {
    std::vector<std::string> keys;  // the keys of the values at the same index
    std::vector<Json> values;
  };
  template <class Number>
  using Held =
      std::conditional_t<std::is_same_v<Number, bool>, bool,
                         std::conditional_t<std::is_floating_point_v<Number>, double,
                                            std::conditional_t<std::is_signed_v<Number>, std::int64_t, std::uint64_t>>>;

  template <class T>
  bool holds() const noexcept {
    return std::holds_alternative<T>(value_);
  }
  std::vector<Json>* children() noexcept;
  template <class T>
  T number() const;
  Object& as_object();
  Array& as_array();
  [[noreturn]] void refuse(const char* expected) const;
  friend class JsonReader;
  friend struct JsonPrinter;

  std::variant<std::monostate, Discarded, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> value_;
};

template <class T>
T Json::number() const {
  if (const auto* value = std::get_if<std::uint64_t>(&value_)) return static_cast<T>(*value);
  if (const auto* value = std::get_if<std::int64_t>(&value_)) return static_cast<T>(*value);
  if (const auto* value = std::get_if<double>(&value_)) return static_cast<T>(*value);
  refuse("a number");
}

template <class T>
T Json::get() const {
  if constexpr (std::is_same_v<T, Json>) {
    return *this;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return text();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!is_boolean()) refuse("true or false");
    return std::get<bool>(value_);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return number<T>();
  } else {
    static_assert(std::is_same_v<T, std::vector<std::string>>);
    if (!is_array()) refuse("an array");
    std::vector<std::string> texts;
    for (const Json& value : *this) texts.push_back(value.text());
    return texts;
  }
}

template <class Value>
class Json::Items {
 public:
  class Iterator {
   public:
    Iterator(const std::string* key, Value* value) : key_(key), value_(value) {}
    Item<Value> operator*() const { return {*key_, *value_}; }
    Iterator& operator++() {
      ++key_;
      ++value_;
      return *this;
    }
    bool operator==(const Iterator& other) const = default;

   private:
    const std::string* key_;
    Value* value_;
  };
  Items(const std::string* keys, Value* values, std::size_t count) : keys_(keys), values_(values), count_(count) {}
  Iterator begin() const { return {keys_, values_}; }
  Iterator end() const { return {keys_ + count_, values_ + count_}; }

 private:
  const std::string* keys_;
  Value* values_;
  std::size_t count_;
};

template <JsonRange Range>
Json::Json(const Range& range) {
  if constexpr (requires { typename Range::mapped_type; }) {
    Object& object = value_.emplace<Object>();
    for (const auto& [key, value] : range) {
      object.keys.emplace_back(key);
      object.values.emplace_back(value);
    }
  } else {
    Array& array = value_.emplace<Array>();
    array.reserve(range.size());
    for (const auto& value : range) array.emplace_back(value);
  }
}

template <class T>
T Json::value(std::string_view key, const T& otherwise) const {
  if (!is_object()) refuse("an object");
  const Json* const found = find(key);
  return found != end() ? found->get<T>() : otherwise;
}

}  // namespace ringside
