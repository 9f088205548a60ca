// SPDX-License-Identifier: BSD-3-Clause
#include "analyzer/pool/synchronous_mapping.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "common/platform/system_files.hpp"

namespace ringside {
namespace {

// "sf", synchronous page faults: the kernel's name for the effect of MAP_SYNC (Documentation/filesystems/proc.rst).
bool says_synchronous(const std::string& flags) {
  const std::vector<std::string> found = words(flags);
  return std::find(found.begin(), found.end(), "sf") != found.end();
}

}  // namespace

bool is_mapped_synchronously(const void* base, std::size_t bytes) {
  std::ifstream smaps("/proc/self/smaps");
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  return is_mapped_synchronously(smaps, begin, begin + bytes);
}

bool is_mapped_synchronously(std::istream& smaps, std::uintptr_t begin, std::uintptr_t end) {
  // Mappings are listed by ascending address: each has a line with its range, followed by other lines, of which one
  // begins with VmFlags.
  constexpr char kFlags[] = "VmFlags:";
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
  for (std::string line; begin < end && std::getline(smaps, line);) {
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2) {
      first = from;
      last = to;
    } else if (line.starts_with(kFlags) && first <= begin && begin < last) {
      if (!says_synchronous(line.substr(sizeof kFlags - 1))) return false;
      begin = last;
    }
  }
  return begin >= end;
}

}  // namespace ringside
