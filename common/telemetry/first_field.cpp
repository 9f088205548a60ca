// SPDX-License-Identifier: BSD-3-Clause
#include "common/telemetry/first_field.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

#include "common/results/result_values.hpp"

namespace ringside {
namespace {

double as_double(const ResultValues& values, const Result& result) noexcept {
  switch (result.type) {
    case ValueType::kF64: return values.f64(result);
    case ValueType::kI64: return static_cast<double>(values.i64(result));
    case ValueType::kI128: break;
  }
  return static_cast<double>(values.i128(result));
}

}  // namespace

FirstField::FirstField(const Schema& schema, const Catalogue& catalogue) : catalogue_(catalogue) {
  const auto is_field = [](const Variable& variable) { return variable.role == Role::kField; };
  const auto first = std::find_if(schema.variables().begin(), schema.variables().end(), is_field);
  if (first == schema.variables().end()) return;
  std::size_t index = 0;
  for_each_scalar([&](const char* name, auto, auto) {
    // The change is there if its norms are.
    const std::string reduction = std::string(name) == "has_change" ? "change_l1" : name;
    results_[index++] = catalogue_.find(first->name + "." + reduction);
  });
}

ReductionScalars FirstField::scalars(std::span<const std::uint64_t> words) const noexcept {
  const ResultValues values(words);
  ReductionScalars scalars;
  std::size_t index = 0;
  for_each_scalar([&](const char*, auto to, auto) {
    const Result* result = results_[index++];
    if (result == nullptr || !values.present(*result)) return;
    using Value = std::remove_reference_t<decltype(scalars.*to)>;
    if constexpr (std::is_same_v<Value, bool>) {
      scalars.*to = true;
    } else if constexpr (std::is_same_v<Value, double>) {
      scalars.*to = as_double(values, *result);
    } else if (result->type == ValueType::kI64) {
      scalars.*to = static_cast<Value>(values.i64(*result));
    }
  });
  return scalars;
}

}  // namespace ringside
