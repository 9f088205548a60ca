// SPDX-License-Identifier: BSD-3-Clause
#include "common/program/schema_json.hpp"

namespace ringside {

Json variables_to_json(std::span<const Variable> variables) {
  Json described = Json::array();
  for (const Variable& variable : variables) {
    described.push_back({{"name", variable.name},
                         {"dtype", to_string(variable.dtype)},
                         {"shape", variable.shape},
                         {"role", to_string(variable.role)},
                         {"unit", variable.unit}});
  }
  return described;
}

}  // namespace ringside
