// SPDX-License-Identifier: BSD-3-Clause
#include "common/schema/names.hpp"

#include <algorithm>

#include "common/platform/error.hpp"
#include "common/schema/schema_layout.hpp"
#include "common/text/printable.hpp"

namespace ringside {
namespace {

constexpr const char* kExpectedName = "expected 1 to 63 of A-Z a-z 0-9 _ . -, beginning with a letter or _";

}  // namespace

void check_name(std::string_view name, std::string_view where, std::string_view what, std::size_t index) {
  constexpr std::size_t kShownBytes = 16;
  if (name.empty()) throw usage_error("{}: {} {} has no name; {}", where, what, index, kExpectedName);
  if (name.size() >= kNameBytes) {
    throw usage_error("{}: {} {}: found a name of {} bytes ('{}...'); {}", where, what, index, name.size(),
                      printable(name.substr(0, kShownBytes)), kExpectedName);
  }
  const auto wrong =
      may_begin_name(name.front()) ? std::find_if_not(name.begin(), name.end(), may_continue_name) : name.begin();
  if (wrong == name.end()) return;
  const std::size_t at = static_cast<std::size_t>(wrong - name.begin());
  throw usage_error("{}: {} {}: the name '{}' has '{}' at byte {}; {}", where, what, index, printable(name),
                    printable(name.substr(at, 1)), at, kExpectedName);
}

void check_unit(std::string_view unit, std::string_view where, std::string_view what, std::string_view name) {
  const auto is_printable_ascii = [](char c) { return c >= ' ' && c <= '~'; };
  if (unit.size() < kUnitBytes && std::all_of(unit.begin(), unit.end(), is_printable_ascii)) return;
  if (unit.size() >= kUnitBytes) {
    throw usage_error("{}: {} '{}': found a unit of {} bytes; expected at most 31 printable ASCII characters", where,
                      what, name, unit.size());
  }
  throw usage_error("{}: {} '{}': found the unit '{}'; expected at most 31 printable ASCII characters", where, what,
                    name, printable(unit));
}

}  // namespace ringside
