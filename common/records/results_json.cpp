// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/results_json.hpp"

#include <algorithm>
#include <cmath>

namespace ringside {

Json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

Json to_json(const StepValue& value) {
  if (!value.present) return {};
  switch (value.type) {
    case ValueType::kF64: return number_or_null(value.f64());
    case ValueType::kI64: return value.i64();
    case ValueType::kI128: break;
  }
  const Int128 wide = value.i128();
  const bool fits =
      wide >= std::numeric_limits<std::int64_t>::min() && wide <= std::numeric_limits<std::int64_t>::max();
  return fits ? Json(static_cast<std::int64_t>(wide)) : Json(to_string(wide));
}

Json to_json(const StepResults& results, std::size_t at_most) {
  Json object = Json::object();
  for (std::size_t i = 0; i < std::min(results.size(), at_most); ++i)
    object[results.name(i)] = to_json(results.value(i));
  return object;
}

}  // namespace ringside
