// SPDX-License-Identifier: BSD-3-Clause
// The variables of a run as JSON: the same keys in reports, in the summary and in the output of the commands.
#pragma once

#include <span>

#include "common/json/json.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

/// For example [{"name": "x", "dtype": "f64", "shape": [1000], "role": "field", "unit": ""}].
inline Json variables_to_json(std::span<const Variable> variables) {
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
inline Json variables_to_json(const Schema& schema) {
  return variables_to_json(schema.variables());
}

}  // namespace ringside
