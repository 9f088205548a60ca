// SPDX-License-Identifier: BSD-3-Clause
#include "common/platform/core_list.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "common/platform/error.hpp"
#include "common/text/decimal.hpp"
#include "common/text/formatted.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

// A larger number is a typing error, and a range up to it must not fill the memory.
constexpr std::uint64_t kLargestCpu = 65535;

int core_in(std::string_view digits, std::string_view piece, std::string_view option) {
  const std::optional<std::uint64_t> number = whole_number(digits);
  if (!number || *number > kLargestCpu) {
    throw usage_error("{}: found '{}', expected a list of core numbers from 0 to {}, as in 0-3,8", option,
                      shortened(piece), kLargestCpu);
  }
  return static_cast<int>(*number);
}

}  // namespace

CoreList parse_core_list(std::string_view text, std::string_view option) {
  std::set<int> cpus;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view piece = text.substr(begin, end - begin);
    const std::size_t dash = piece.find('-');
    const int first = core_in(piece.substr(0, dash), piece, option);
    const int last = dash == std::string_view::npos ? first : core_in(piece.substr(dash + 1), piece, option);
    if (last < first) {
      throw usage_error("{}: found the range '{}'; write the lower number first: {}-{}", option, piece, last, first);
    }
    for (int cpu = first; cpu <= last; ++cpu) cpus.insert(cpu);
    begin = end + 1;
  }
  return {{cpus.begin(), cpus.end()}};
}

std::string to_string(const CoreList& list) {
  if (list.cpus.empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < list.cpus.size();) {
    std::size_t end = i;
    while (end + 1 < list.cpus.size() && list.cpus[end + 1] == list.cpus[end] + 1) ++end;
    if (!text.empty()) text += ',';
    text += i == end ? std::to_string(list.cpus[i]) : formatted("{}-{}", list.cpus[i], list.cpus[end]);
    i = end + 1;
  }
  return text;
}

}  // namespace ringside
