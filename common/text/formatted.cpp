// SPDX-License-Identifier: BSD-3-Clause
#include "common/text/formatted.hpp"

#include <charconv>
#include <cmath>

namespace ringside {
namespace {

/// A number's form: the part of "{:#018x}" after the colon.
struct Form {
  bool prefix = false;
  std::size_t width = 0;  // padded with zeros
  int base = 10;
};

Form form_of(std::string_view spec) noexcept {
  Form form;
  if (spec.empty()) return form;
  spec.remove_prefix(1);
  if (spec.starts_with('#')) form.prefix = true, spec.remove_prefix(1);
  form.base = spec.back() == 'x' ? 16 : 8;
  std::from_chars(spec.data(), spec.data() + spec.size(), form.width);
  return form;
}

template <class Integer>
void append_integer(std::string& out, Integer value, const Form& form) {
  char digits[24];  // room for the 22 octal digits of 2^64
  const char* end = std::to_chars(digits, digits + sizeof(digits), value, form.base).ptr;
  const std::string_view written(digits, static_cast<std::size_t>(end - digits));
  const std::string_view prefix = form.prefix ? (form.base == 16 ? "0x" : "0") : "";
  out += prefix;
  const std::size_t length = prefix.size() + written.size();
  if (length < form.width) out.append(form.width - length, '0');
  out += written;
}

/// Appends the fewest digits that read back as the same double, with an exponent for numbers below 1e-4 and from 1e16
/// on.
void append_double(std::string& out, double value) {
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char digits[40];
  const auto written = std::to_chars(digits, digits + sizeof(digits), value,
                                     plain ? std::chars_format::fixed : std::chars_format::scientific);
  out.append(digits, written.ptr);
}

}  // namespace

void FormatArgument::append_to(std::string& out, std::string_view spec) const {
  switch (kind_) {
    case Kind::kText: out += text_; break;
    case Kind::kCharacter: out += character_; break;
    case Kind::kSigned: append_integer(out, signed_, form_of(spec)); break;
    case Kind::kUnsigned: append_integer(out, unsigned_, form_of(spec)); break;
    case Kind::kDouble: append_double(out, double_); break;
  }
}

std::string formatted(std::string_view text, std::span<const FormatArgument> arguments) {
  std::string out;
  out.reserve(text.size() + 16 * arguments.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      out += c;
      continue;
    }
    ++i;  // FormatText has checked the characters that follow
    if (text[i] == c) {
      out += c;
      continue;
    }
    const std::size_t end = text.find('}', i);
    arguments[next++].append_to(out, text.substr(i, end - i));
    i = end;
  }
  return out;
}

}  // namespace ringside
