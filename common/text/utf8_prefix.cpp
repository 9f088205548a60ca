// SPDX-License-Identifier: BSD-3-Clause
#include "common/text/utf8_prefix.hpp"

namespace ringside {
namespace {

constexpr std::size_t kMostContinuations = 3;  // of a character

bool is_continuation(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

}  // namespace

std::string_view utf8_prefix(std::string_view text, std::size_t most_bytes) noexcept {
  if (text.size() <= most_bytes) return text;
  std::size_t end = most_bytes;
  for (std::size_t i = 0; i < kMostContinuations && end > 0 && is_continuation(text[end]); ++i) --end;
  return text.substr(0, is_continuation(text[end]) ? most_bytes : end);
}

}  // namespace ringside
