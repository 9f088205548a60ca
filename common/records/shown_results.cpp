// SPDX-License-Identifier: BSD-3-Clause
#include "common/records/shown_results.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>

namespace ringside {
namespace {

constexpr std::string_view kResidualL1 = "solver.residual_l1";
constexpr std::string_view kResidualLinf = "solver.residual_linf";

std::optional<double> number(const StepValue& value) {
  return value.present ? std::optional(value.as_double()) : std::nullopt;
}

/// Returns nothing unless at least one of the reductions is present.
std::optional<ReductionScalars> reductions_of(const StepResults& results, const std::string& field) {
  ReductionScalars scalars;
  bool any = false;
  for_each_scalar([&](const char* name, auto to, auto) {
    using Value = std::remove_reference_t<decltype(scalars.*to)>;
    // The flag `has_change` is true if the norms of the change are present.
    const bool is_change = std::is_same_v<Value, bool>;
    const StepValue value = results.find(field + "." + (is_change ? "change_l1" : name));
    if (!value.present) return;
    any = true;
    if constexpr (std::is_same_v<Value, bool>) {
      scalars.*to = true;
    } else if constexpr (std::is_same_v<Value, double>) {
      scalars.*to = value.as_double();
    } else if (value.type == ValueType::kI64) {
      scalars.*to = static_cast<Value>(value.i64());
    }
  });
  return any ? std::optional(scalars) : std::nullopt;
}

}  // namespace

const Variable* first_field(const Schema& schema) {
  const auto is_field = [](const Variable& variable) { return variable.role == Role::kField; };
  const auto first = std::find_if(schema.variables().begin(), schema.variables().end(), is_field);
  return first == schema.variables().end() ? nullptr : &*first;
}

ShownNames shown_names(const StepResults& results) {
  if (!results.layout()) return {};
  const RecordLayout& layout = *results.layout();
  if (layout.find(kResidualL1) != nullptr) {
    return {std::string(kResidualL1), layout.find(kResidualLinf) != nullptr ? std::string(kResidualLinf) : ""};
  }
  if (const Variable* field = first_field(layout.schema())) {
    return {field->name + ".change_l1", field->name + ".change_linf"};
  }
  for (const RecordedResult& recorded : layout.results()) {
    if (recorded.result->source == ResultSource::kScalar) return {recorded.result->full_name, "", false};
  }
  return {};
}

ShownFigures shown_of(const StepResults& results) {
  if (!results.layout()) return {};
  ShownFigures shown{.residual_l1 = number(results.find(kResidualL1)),
                     .residual_linf = number(results.find(kResidualLinf)),
                     .reductions = {},
                     .course = {},
                     .course_linf = {}};
  if (const Variable* field = first_field(results.layout()->schema())) {
    shown.reductions = reductions_of(results, field->name);
  }
  const ShownNames names = shown_names(results);
  shown.course = number(results.find(names.course));
  shown.course_linf = number(results.find(names.course_linf));
  return shown;
}

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

Json to_json_in_full(const Reductions& r, std::uint64_t iteration) {
  Json json = to_json(r, iteration);
  json["rows"] = r.rows;
  json["sum"] = r.sum;
  json["non_finite"] = r.non_finite;
  const auto change = [&r](double value) { return r.has_change == 1 ? Json(value) : Json(); };
  json["change_l1"] = change(r.change_l1);
  json["change_l2"] = change(r.change_l2);
  json["change_linf"] = change(r.change_linf);
  json["top"] = Json::array();
  for (std::uint64_t i = 0; i < r.top_count && i < kTopEntries; ++i) {
    json["top"].push_back({{"row", r.top[i].row}, {"value", r.top[i].value}});
  }
  json["histogram"] = r.histogram;
  return json.sorted();
}

}  // namespace ringside
