// SPDX-License-Identifier: BSD-3-Clause
#include "cli/history/hex_id.hpp"

#include <fmt/format.h>

namespace ringside {

std::string hex(const std::string& id) {
  std::string digits;
  for (const char byte : id) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

}  // namespace ringside
