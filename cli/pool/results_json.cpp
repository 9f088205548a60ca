// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pool/results_json.hpp"

#include <limits>

#include "common/results/result_values.hpp"

namespace ringside {
namespace {

using nlohmann::ordered_json;

ordered_json value_of(const ResultValues& values, const Result& result) {
  if (!values.present(result)) return {};
  switch (result.type) {
    case ValueType::kF64: return values.f64(result);
    case ValueType::kI64: return values.i64(result);
    case ValueType::kI128: break;
  }
  const Int128 value = values.i128(result);
  const bool fits =
      value >= std::numeric_limits<std::int64_t>::min() && value <= std::numeric_limits<std::int64_t>::max();
  return fits ? ordered_json(static_cast<std::int64_t>(value)) : ordered_json(to_string(value));
}

}  // namespace

ordered_json results_to_json(const Catalogue& catalogue, std::span<const std::uint64_t> words) {
  if (words.size() != catalogue.words()) return {};
  ordered_json object = ordered_json::object();
  for (const Result& result : catalogue.results()) {
    if (result.source == ResultSource::kScalar || result.count != 1) continue;
    object[result.full_name] = value_of(ResultValues(words), result);
  }
  return object;
}

}  // namespace ringside
