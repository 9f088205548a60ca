// SPDX-License-Identifier: BSD-3-Clause
// A variable: a named array of one dtype and one shape. A step has all variables of its run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/schema/dtype.hpp"

namespace ringside {

enum class Role : std::uint16_t {
  kField = 1,  // kept, reduced and shown
  kState = 2   // only kept, because the solver needs it to continue
};

constexpr std::string_view to_string(Role role) noexcept {
  return role == Role::kField ? "field" : "state";
}

struct Variable {
  std::string name;  // 1 to 63 characters of A-Z a-z 0-9 _ . -, beginning with a letter or _
  DType dtype = DType::kF64;
  std::vector<std::uint64_t> shape{};  // row-major; 0 to 8 dimensions, each at least 1; empty: one entry
  Role role = Role::kField;
  std::string unit{};  // at most 31 printable ASCII characters, such as "m s-1" (UDUNITS)
  bool operator==(const Variable&) const = default;
};

/// A text such as "p f64[4000000] state", "count i64" or "u f32[200,300] m s-1".
std::string to_text(const Variable& variable);

}  // namespace ringside
