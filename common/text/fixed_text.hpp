// SPDX-License-Identifier: BSD-3-Clause
// Texts in fields of fixed size, for example a matrix's name or a message. Such fields cross process boundaries and
// outlive the process.
#pragma once

#include <cstddef>
#include <string_view>

namespace ringside {

/// Copies `text` into a fixed field, NUL-terminated and zero-padded. If a text is too long, its beginning is removed,
/// because the end of a path is more informative. No UTF-8 character is cut: if its first byte is removed, its
/// continuation bytes (10xxxxxx, at most three) are also removed.
template <std::size_t N>
void assign(char (&field)[N], std::string_view text) noexcept {
  if (text.size() > N - 1) {
    text.remove_prefix(text.size() - (N - 1));
    for (int i = 0; i < 3 && !text.empty() && (text.front() & 0xC0) == 0x80; ++i) text.remove_prefix(1);
  }
  for (std::size_t i = 0; i < N; ++i) field[i] = i < text.size() ? text[i] : '\0';
}

/// The content of a fixed field, up to its NUL. Without a NUL (from a hostile peer), the content is the whole field.
template <std::size_t N>
std::string_view text_of(const char (&field)[N]) noexcept {
  std::size_t length = 0;
  while (length < N && field[length] != '\0') ++length;
  return {field, length};
}

}  // namespace ringside
