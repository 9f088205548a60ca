// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool_view/field_grid.hpp"

#include <algorithm>

#include "common/text/decimal.hpp"

namespace ringside {
namespace {

/// Of grid:SIDE; 0: another matrix.
std::uint64_t side_of(std::string_view matrix) {
  constexpr std::string_view kGrid = "grid:";
  if (!matrix.starts_with(kGrid)) return 0;
  const std::uint64_t side = whole_number(matrix.substr(kGrid.size())).value_or(0);
  return side <= 65535 ? side : 0;
}

std::vector<std::uint64_t> plane_of(const std::vector<std::uint64_t>& shape, std::uint64_t side) {
  if (shape.size() == 1 && side > 0 && shape[0] == side * side) return {side, side};
  if (shape.size() == 2) return shape;
  if (shape.size() != 3) return {};
  std::vector<std::uint64_t> plane = shape;
  const auto flat = std::find(plane.begin(), plane.end(), std::uint64_t{1});
  if (flat == plane.end()) return {};
  plane.erase(flat);
  return plane;
}

}  // namespace

std::vector<FieldGrid> grids_of(const Schema& schema, std::string_view matrix) {
  std::vector<FieldGrid> grids;
  for (const Role role : {Role::kField, Role::kState}) {
    for (std::size_t i = 0; i < schema.size(); ++i) {
      const Variable& variable = schema.variables()[i];
      if (variable.role != role) continue;
      const std::vector<std::uint64_t> plane = plane_of(variable.shape, side_of(matrix));
      if (plane.empty()) continue;
      grids.push_back({i, variable.name, variable.unit, variable.dtype, plane[0], plane[1]});
    }
  }
  return grids;
}

}  // namespace ringside
