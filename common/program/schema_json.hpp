// SPDX-License-Identifier: BSD-3-Clause
// The variables of a run as JSON: the same keys in reports, in the summary and in the output of the commands.
#pragma once

#include <span>

#include "common/json/json.hpp"
#include "common/schema/schema.hpp"

namespace ringside {

/// [{"name": "x", "dtype": "f64", "shape": [1000], "role": "field", "unit": ""}]
Json variables_to_json(std::span<const Variable> variables);
inline Json variables_to_json(const Schema& schema) {
  return variables_to_json(schema.variables());
}

}  // namespace ringside
