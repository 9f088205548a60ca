// SPDX-License-Identifier: BSD-3-Clause
// The rules for names and units, the same for variables, scalars and results.
#pragma once

#include <cstddef>
#include <string_view>

namespace ringside {

constexpr bool may_begin_name(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}
constexpr bool may_continue_name(char c) noexcept {
  return may_begin_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

/// Throws Error (exit code 2) unless `name` has 1 to 63 bytes of A-Z a-z 0-9 _ . - and begins with a letter or _. The
/// message begins with `where`, followed by `what` ("variable") and `index`.
void check_name(std::string_view name, std::string_view where, std::string_view what, std::size_t index);

/// Throws Error (exit code 2) unless `unit` has at most 31 printable ASCII characters.
void check_unit(std::string_view unit, std::string_view where, std::string_view what, std::string_view name);

}  // namespace ringside
