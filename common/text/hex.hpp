// SPDX-License-Identifier: BSD-3-Clause
// Bytes as hexadecimal digits. Users see the 16-byte ids of runs and problems in this form.
#pragma once

#include <string>
#include <string_view>

namespace ringside {

inline std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (const char byte : bytes) {
    digits += kDigits[static_cast<unsigned char>(byte) >> 4];
    digits += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return digits;
}

}  // namespace ringside
