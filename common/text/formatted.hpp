// SPDX-License-Identifier: BSD-3-Clause
// Text for people that contains values: formatted("{}: found {}, expected {}", …). Only the few forms that Ringside's
// messages use are supported, so that libringside needs no library for them. The compiler checks each text and its
// values.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace ringside {

/// One value to be formatted. The object refers to a text and does not copy it.
class FormatArgument {
 public:
  FormatArgument(bool value) noexcept : kind_(Kind::kText), text_(value ? "true" : "false") {}
  FormatArgument(char value) noexcept : kind_(Kind::kCharacter), character_(value) {}
  template <std::signed_integral Integer>
  FormatArgument(Integer value) noexcept : kind_(Kind::kSigned), signed_(value) {}
  template <std::unsigned_integral Integer>
  FormatArgument(Integer value) noexcept : kind_(Kind::kUnsigned), unsigned_(value) {}
  FormatArgument(double value) noexcept : kind_(Kind::kDouble), double_(value) {}
  FormatArgument(const char* text) noexcept : kind_(Kind::kText), text_(text) {}
  FormatArgument(std::string_view text) noexcept : kind_(Kind::kText), text_(text) {}
  FormatArgument(const std::string& text) noexcept : kind_(Kind::kText), text_(text) {}

  bool is_integer() const noexcept { return kind_ == Kind::kSigned || kind_ == Kind::kUnsigned; }
  /// spec: the text between the braces of the place, in one of the forms of FormatText.
  void append_to(std::string& out, std::string_view spec) const;

 private:
  enum class Kind { kText, kCharacter, kSigned, kUnsigned, kDouble };

  Kind kind_;
  std::string_view text_;
  char character_ = 0;
  std::int64_t signed_ = 0;
  std::uint64_t unsigned_ = 0;
  double double_ = 0;
};

template <class... Arguments>
class FormatText {
 public:
  /// Does not compile if the number of places differs from the number of values, or if a place is not {} or, for
  /// integers, {:x}, {:o}, {:#x} or {:02x} (any width up to 99; # writes 0x and counts as two characters). {{ and }}
  /// stand for braces.
  template <class Text>
  requires std::convertible_to<const Text&, std::string_view>
  consteval FormatText(const Text& text) : text_(text) {
    constexpr bool kIsInteger[] = {std::integral<std::remove_cvref_t<Arguments>>..., false};
    std::size_t places = 0;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '}' && (++i == text_.size() || text_[i] != '}')) wrong("a lone }");
      if (text_[i] != '{') continue;
      if (++i == text_.size()) wrong("a lone {");
      if (text_[i] == '{') continue;
      if (places == sizeof...(Arguments)) wrong("more placeholders than values");
      const std::size_t end = text_.find('}', i);
      if (end == std::string_view::npos) wrong("a lone {");
      const std::string_view spec = text_.substr(i, end - i);
      if (!spec.empty() && !(kIsInteger[places] && is_number_form(spec))) wrong("an unknown form");
      ++places;
      i = end;
    }
    if (places != sizeof...(Arguments)) wrong("fewer placeholders than values");
  }

  std::string_view view() const noexcept { return text_; }

 private:
  static void wrong(const char*) {}  // not constexpr, so that a call of it does not compile

  static consteval bool is_number_form(std::string_view spec) {
    if (!spec.starts_with(':')) return false;
    spec.remove_prefix(1);
    if (spec.starts_with('#')) spec.remove_prefix(1);
    if (spec.starts_with('0')) spec.remove_prefix(1);
    int digits = 0;
    for (; !spec.empty() && spec[0] >= '0' && spec[0] <= '9'; spec.remove_prefix(1)) ++digits;
    return digits <= 2 && (spec == "x" || spec == "o");
  }

  std::string_view text_;
};

std::string formatted(std::string_view text, std::span<const FormatArgument> arguments);

/// Integers are decimal unless their place has another form; a double has the fewest digits that read back as the same
/// value.
template <class... Arguments>
std::string formatted(FormatText<std::type_identity_t<Arguments>...> text, const Arguments&... arguments) {
  const std::initializer_list<FormatArgument> values = {FormatArgument(arguments)...};
  return formatted(text.view(), std::span(values.begin(), values.size()));
}

/// The texts of all values of a range, with `separator` between them.
template <class Range>
std::string joined(const Range& values, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; const auto& value : values) {
    if (i++ > 0) text += separator;
    FormatArgument(value).append_to(text, "");
  }
  return text;
}

}  // namespace ringside
