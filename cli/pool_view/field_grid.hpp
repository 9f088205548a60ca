// SPDX-License-Identifier: BSD-3-Clause
// Which variables are fields of two dimensions, and how many rows and columns they have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/schema/schema.hpp"

namespace ringside {

struct FieldGrid {
  std::size_t variable = 0;  // its index in the schema
  std::string name;
  std::string unit;
  DType dtype = DType::kF64;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;

  std::uint64_t entries() const noexcept { return rows * columns; }
  /// Above this a field is drawn only when somebody asks for it: reading it takes memory bandwidth from the run.
  static constexpr std::uint64_t kLarge = 4'000'000;
  bool is_large() const noexcept { return entries() > kLarge; }
};

/// The variables with a shape of two dimensions, or of three of which one has the length 1; and those of SIDE * SIDE
/// entries in one dimension if `matrix` is grid:SIDE. Fields first, then states, each in the order of the schema.
std::vector<FieldGrid> grids_of(const Schema& schema, std::string_view matrix);

}  // namespace ringside
