// SPDX-License-Identifier: BSD-3-Clause
// Divides text into pieces, and quotes it in messages.
#include "producer/text/text_scan.hpp"

#include <omp.h>

#include <algorithm>

#include "common/platform/error.hpp"

namespace ringside {
namespace {

// A message is one line that a person reads; longer quotes do not help this person.
constexpr std::size_t kLongestQuote = 60;

std::string quote(std::string_view found) {
  std::string text = "'";
  for (char c : found.substr(0, kLongestQuote)) text += c >= ' ' && c <= '~' ? c : '?';
  if (found.size() > kLongestQuote) text += "...";
  return text + "'";
}

}  // namespace

const char* parse_fortran_real(const char* p, const char* exponent, const char* end, double& number) noexcept {
  const bool has_letter = (*exponent | 0x20) == 'd';
  const char* digits = has_letter ? exponent + 1 : exponent;
  if (digits < end && (*digits == '+' || *digits == '-')) ++digits;
  const char* last = digits;
  while (last < end && static_cast<unsigned char>(*last) - unsigned{'0'} <= 9) ++last;
  const bool has_point = std::find(p, exponent, '.') != exponent;
  if (has_letter ? last == digits : !has_point || last - digits != 3) return exponent;  // not a number
  try {
    const std::string decimal =
        std::string(p, exponent) + 'e' + std::string(has_letter ? exponent + 1 : exponent, last);
    const char* const read = parse_real(decimal.data(), decimal.data() + decimal.size(), number);
    if (read == nullptr) return nullptr;
    return read == decimal.data() + decimal.size() ? last : exponent;  // "1e5D3"
  } catch (...) {
    return nullptr;
  }
}

std::vector<std::string_view> split_at_lines(std::string_view text, std::size_t count) {
  std::vector<std::string_view> pieces;
  const char* const end = text.data() + text.size();
  const char* begin = text.data();
  for (std::size_t i = 1; i <= count && begin < end; ++i) {
    const char* target = text.data() + text.size() / count * i;
    const char* cut = i == count ? end : skip_line(std::max(target, begin), end);
    pieces.emplace_back(begin, static_cast<std::size_t>(cut - begin));
    begin = cut;
  }
  return pieces;
}

std::size_t piece_count(std::size_t text_bytes) {
  constexpr std::size_t kSmallestPieceBytes = 4096;
  const std::size_t wanted = 8 * static_cast<std::size_t>(omp_get_max_threads());
  return std::clamp<std::size_t>(text_bytes / kSmallestPieceBytes, 1, wanted);
}

std::uint64_t line_number(std::string_view text, std::size_t offset) {
  std::uint64_t line = 1;
  for (std::size_t i = 0; i < std::min(offset, text.size()); ++i) {
    const bool is_half_of_crlf = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (is_line_end(text[i]) && !is_half_of_crlf) ++line;
  }
  return line;
}

std::string quote_word(std::string_view text, std::size_t offset, std::string_view separators) {
  if (offset >= text.size()) return "the end of the file";
  if (is_line_end(text[offset])) return "the end of the line";
  std::size_t last = offset;
  const auto ends = [separators](char c) {
    return is_blank(c) || is_line_end(c) || separators.find(c) != std::string_view::npos;
  };
  while (last < text.size() && !ends(text[last])) ++last;
  return quote(text.substr(offset, std::max<std::size_t>(last - offset, 1)));
}

std::string quote_line(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  if (offset == text.size() && (text.empty() || is_line_end(text.back()))) return "the end of the file";
  std::size_t first = offset;
  while (first > 0 && !is_line_end(text[first - 1])) --first;
  std::size_t last = offset;
  while (last < text.size() && !is_line_end(text[last])) ++last;
  while (first < last && is_blank(text[first])) ++first;
  while (first < last && is_blank(text[last - 1])) --last;
  return first == last ? "an empty line" : quote(text.substr(first, last - first));
}

void fail_at(std::string_view text, const std::string& name, std::size_t offset, const std::string& found,
             std::string_view expected) {
  throw usage_error("{}: line {}: found {}, expected {}", name, line_number(text, offset), found, expected);
}

}  // namespace ringside
