// SPDX-License-Identifier: BSD-3-Clause
// What the kernel reports about one mapping of this process in /proc/self/smaps.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace ringside::testing {

/// The rest of the line that begins with `key` ("Rss:"), of the mapping that contains `address`; "" if there is none.
inline std::string smaps_line(const void* address, const std::string& key) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream smaps("/proc/self/smaps");
  bool of_mapping = false;
  for (std::string line; std::getline(smaps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (line.find('-') < line.find(' ') && std::istringstream(line) >> std::hex >> begin >> dash >> end) {
      of_mapping = begin <= wanted && wanted < end;
    }
    if (of_mapping && line.starts_with(key)) return line.substr(key.size());
  }
  return "";
}

inline std::uint64_t smaps_kib(const void* address, const std::string& key) {
  std::uint64_t kib = 0;
  std::istringstream(smaps_line(address, key)) >> kib;
  return kib;
}

}  // namespace ringside::testing
