// SPDX-License-Identifier: BSD-3-Clause
// Parses a text's lines, blanks and numbers, with explicit ends, because a mapped file has no terminating NUL. Lines
// end in LF, CRLF or CR. These functions are in the innermost loop of parsing, so they are inline, and report errors by
// their return values. If a function fails, its caller makes the message.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace ringside {

inline bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t';
}

inline bool is_line_end(char c) noexcept {
  return c == '\n' || c == '\r';
}

inline const char* skip_blanks(const char* p, const char* end) noexcept {
  while (p < end && is_blank(*p)) ++p;
  return p;
}

/// The beginning of the next line. p: a position at a line end, or `end`.
inline const char* after_line_end(const char* p, const char* end) noexcept {
  if (p < end && *p == '\r') {
    ++p;
    if (p < end && *p == '\n') ++p;
    return p;
  }
  return p < end ? p + 1 : end;
}

inline const char* find_line_end(const char* p, const char* end) noexcept {
  while (p < end && !is_line_end(*p)) ++p;
  return p;
}

/// The beginning of the next line. p: any position within a line.
inline const char* skip_line(const char* p, const char* end) noexcept {
  return after_line_end(find_line_end(p, end), end);
}

/// Reads an unsigned whole number at `p`. Returns the position after the number; or null if there is no digit, or if
/// the number has more than 64 bits. Accepts the same text as std::from_chars, which needs a tenth more instructions
/// for an id of seven digits.
inline const char* parse_unsigned(const char* p, const char* end, std::uint64_t& number) noexcept {
  const char* const first = p;
  std::uint64_t n = 0;
  // 19 digits always fit into 64 bits; only longer numbers need the check.
  const char* const safe_end = end - p > 19 ? p + 19 : end;
  while (p < safe_end) {
    const unsigned digit = static_cast<unsigned char>(*p) - unsigned{'0'};
    if (digit > 9) break;
    n = n * 10 + digit;
    ++p;
  }
  if (p == first) return nullptr;
  for (; p < end; ++p) {
    const unsigned digit = static_cast<unsigned char>(*p) - unsigned{'0'};
    if (digit > 9) break;
    if (n > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return nullptr;
    n = n * 10 + digit;
  }
  number = n;
  return p;
}

/// Reads a number with a Fortran exponent; other numbers are read as parse_real reads them. Examples: "1.0D+00", "1d0",
/// and "1.0-100", the form in which Fortran writes an exponent of three digits. `exponent` is the beginning of the
/// exponent.
const char* parse_fortran_real(const char* p, const char* exponent, const char* end, double& number) noexcept;

/// Reads a decimal number, "inf" or "nan" at `p`. Returns the position after the number; or null if there is no number,
/// or if it is too large for a double. A number too small for a double becomes 0 or a subnormal.
inline const char* parse_real(const char* p, const char* end, double& number) noexcept {
  const char* first = p;
  if (p < end && *p == '+') {
    ++first;
    if (first < end && *first == '-') return nullptr;
  }
  // Most numbers in files are short plain decimals ("-1", "12", "0.5"): if digits and 10^k are exact doubles,
  // digits/10^k is rounded correctly, in half the time of from_chars.
  static constexpr double kPowersOfTen[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                            1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const char* q = first;
  const bool negative = q < end && *q == '-';
  q += negative ? 1 : 0;
  std::uint64_t digits = 0;
  int seen = 0;
  int fraction = 0;
  for (; q < end && static_cast<unsigned char>(*q) - unsigned{'0'} <= 9 && seen < 16; ++q, ++seen) {
    digits = digits * 10 + (static_cast<unsigned char>(*q) - unsigned{'0'});
  }
  if (q < end && *q == '.') {
    ++q;
    for (; q < end && static_cast<unsigned char>(*q) - unsigned{'0'} <= 9 && seen < 16; ++q, ++seen, ++fraction) {
      digits = digits * 10 + (static_cast<unsigned char>(*q) - unsigned{'0'});
    }
  }
  if (seen > 0 && seen <= 15 && (q == end || is_blank(*q) || is_line_end(*q) || *q == ',')) {
    const double magnitude = static_cast<double>(digits) / kPowersOfTen[fraction];
    number = negative ? -magnitude : magnitude;
    return q;
  }
  const std::from_chars_result result = std::from_chars(first, end, number);
  if (result.ec == std::errc{}) {
    const char next = result.ptr == end ? ' ' : *result.ptr;
    const bool fortran = next == 'd' || next == 'D' || next == '+' || next == '-';
    return fortran ? parse_fortran_real(first, result.ptr, end, number) : result.ptr;
  }
  if (result.ec != std::errc::result_out_of_range) return nullptr;
  // If a number is out of range, from_chars leaves `number` unchanged and does not report whether it is too large or
  // too small; strtod does. This program never calls setlocale, so strtod expects '.'.
  try {
    number = std::strtod(std::string(first, result.ptr).c_str(), nullptr);
  } catch (...) {
    return nullptr;
  }
  const bool too_large = number > std::numeric_limits<double>::max() || number < std::numeric_limits<double>::lowest();
  return too_large ? nullptr : result.ptr;
}

/// Reads a whole number of 64 bits (signed or unsigned) as a double; also "inf" and "nan".
inline const char* parse_integer(const char* p, const char* end, double& number) noexcept {
  const char* digits = p;
  const bool has_sign = p < end && (*p == '-' || *p == '+');
  if (has_sign) ++digits;
  const bool negative = has_sign && *p == '-';
  if (digits < end && (*digits | 0x20) >= 'a')
    return (*digits | 0x20) == 'i' || (*digits | 0x20) == 'n' ? parse_real(p, end, number) : nullptr;
  std::uint64_t magnitude = 0;
  p = parse_unsigned(digits, end, magnitude);
  if (p == nullptr || (negative && magnitude > std::uint64_t{1} << 63)) return nullptr;
  number = negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  return p;
}

/// Divides `text` into at most `count` pieces for the threads to share. Pieces begin at line beginnings.
std::vector<std::string_view> split_at_lines(std::string_view text, std::size_t count);

/// A number of pieces that is large enough to keep all threads busy to the end; a small text is one piece.
std::size_t piece_count(std::size_t text_bytes);

/// The number, counted from 1, of the line that contains `offset`.
std::uint64_t line_number(std::string_view text, std::size_t offset);

/// The quote of the text at `offset` for a message: the text up to the next blank, line end or character of
/// `separators`, in quotes, shortened, with '?' for unprintable bytes; "the end of the line" or "the end of the file"
/// if nothing follows.
std::string quote_word(std::string_view text, std::size_t offset, std::string_view separators = {});

/// The quote of the whole line that contains `offset`.
std::string quote_line(std::string_view text, std::size_t offset);

/// Throws `Error` (exit code 2): "NAME: line L: found FOUND, expected EXPECTED", where L is the line that contains
/// `offset`.
[[noreturn]] void fail_at(std::string_view text, const std::string& name, std::size_t offset, const std::string& found,
                          std::string_view expected);

}  // namespace ringside
