// SPDX-License-Identifier: BSD-3-Clause
#include "common/text/printable.hpp"

#include <cstring>

#include "common/text/formatted.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMostContinuations = 3;  // the most continuation bytes in one character

unsigned char byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

bool is_continuation(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// The length in bytes of the UTF-8 character that begins at `at`; 0 if none begins there (Unicode, table 3-7).
std::size_t length_of_character(std::string_view text, std::size_t at) {
  const unsigned char lead = byte_at(text, at);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[at + i])) return 0;
  }
  const unsigned char second = byte_at(text, at + 1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool too_large = lead == 0xf4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

/// Control characters: C0, DEL, and C1 (U+0080 to U+009F), which terminals interpret as ESC and a letter.
bool is_control(std::string_view character) {
  const unsigned char first = byte_at(character, 0);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return character.size() == 2 && first == 0xc2 && byte_at(character, 1) < 0xa0;
}

/// character: a whole UTF-8 character.
char32_t code_point(std::string_view character) {
  constexpr unsigned kLeadBits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  char32_t code = byte_at(character, 0) & kLeadBits[character.size()];
  for (std::size_t i = 1; i < character.size(); ++i) code = (code << 6) | (byte_at(character, i) & 0x3fU);
  return code;
}

/// Characters that are invisible but reorder, hide or break the text around them (Unicode's general categories Cf, Zl
/// and Zp, without the visible signs of Arabic and Kaithi numbers): U+202E makes "gpj.exe" look like "exe.jpg".
bool is_invisible_format(char32_t code) {
  constexpr char32_t kRanges[][2] = {
      {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
      {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe007f},
  };
  for (const auto& [first, last] : kRanges) {
    if (code >= first && code <= last) return true;
  }
  return false;
}

/// A piece of a printable text, without allocation.
struct Piece {
  char text[12];
  std::size_t size = 0;

  void add(char c) { text[size++] = c; }
  /// Adds the last hexadecimal digits of a number.
  void add(char32_t number, int digits) {
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) add("0123456789abcdef"[(number >> shift) & 0xfU]);
  }
};

Piece escaped(unsigned char byte) {
  Piece piece;
  piece.add('\\');
  switch (byte) {
    case '\n': piece.add('n'); break;
    case '\t': piece.add('t'); break;
    case '\r': piece.add('r'); break;
    default: piece.add('x'); piece.add(byte, 2);
  }
  return piece;
}

Piece escaped(char32_t code) {
  Piece piece;
  piece.add('\\');
  piece.add(code > 0xffff ? 'U' : 'u');
  piece.add(code, code > 0xffff ? 8 : 4);
  return piece;
}

/// Calls append(std::string_view) for each piece of the printable text.
template <class Append>
void for_each_piece(std::string_view text, const Append& append) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_of_character(text, at);
    const std::string_view character = text.substr(at, length > 0 ? length : 1);
    at += character.size();
    if (length == 0 || is_control(character)) {
      for (const char c : character) {
        const Piece piece = escaped(static_cast<unsigned char>(c));
        append(std::string_view(piece.text, piece.size));
      }
    } else if (const char32_t code = code_point(character); is_invisible_format(code)) {
      const Piece piece = escaped(code);
      append(std::string_view(piece.text, piece.size));
    } else {
      append(character);
    }
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_piece(text, [&out](std::string_view piece) { out += piece; });
  return out;
}

std::size_t write_printable(std::string_view text, char* to, std::size_t room) noexcept {
  std::size_t used = 0;
  bool is_full = false;
  for_each_piece(text, [&](std::string_view piece) {
    is_full = is_full || piece.size() > room - used;
    if (is_full) return;
    std::memcpy(to + used, piece.data(), piece.size());
    used += piece.size();
  });
  return used;
}

std::string shortened(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return printable(text);
  return formatted("{}... ({} bytes)", printable(utf8_prefix(text, most_bytes)), text.size());
}

std::string_view utf8_prefix(std::string_view text, std::size_t most_bytes) noexcept {
  if (text.size() <= most_bytes) return text;
  std::size_t end = most_bytes;
  for (std::size_t i = 0; i < kMostContinuations && end > 0 && is_continuation(text[end]); ++i) --end;
  return text.substr(0, is_continuation(text[end]) ? most_bytes : end);
}

std::string utf8_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = length_of_character(text, at);
    out += length == 0 ? std::string_view("?") : text.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return out;
}

}  // namespace ringside
