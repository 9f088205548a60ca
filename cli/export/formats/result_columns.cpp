// SPDX-License-Identifier: BSD-3-Clause
#include "cli/export/formats/result_columns.hpp"

#include <algorithm>
#include <limits>

#include "common/text/formatted.hpp"

namespace ringside {
namespace {

bool fits_in_64_bits(const StepValue& value) {
  return !value.present || value.type != ValueType::kI128 ||
         (value.i128() > std::numeric_limits<std::int64_t>::min() &&
          value.i128() <= std::numeric_limits<std::int64_t>::max());
}

}  // namespace

bool ResultColumn::is_integer() const noexcept {
  return type != ValueType::kF64 && std::all_of(values.begin(), values.end(), fits_in_64_bits);
}

std::vector<double> ResultColumn::f64() const {
  std::vector<double> column;
  for (const StepValue& value : values) column.push_back(value.as_double());
  return column;
}

std::vector<std::int64_t> ResultColumn::i64() const {
  std::vector<std::int64_t> column;
  for (const StepValue& value : values) {
    column.push_back(!value.present                   ? kAbsentInteger
                     : value.type == ValueType::kI128 ? static_cast<std::int64_t>(value.i128())
                                                      : value.i64());
  }
  return column;
}

ResultColumn& ExportColumns::column(const std::string& name, ValueType type, const StepResults& results,
                                    std::size_t index) {
  bool taken = false;
  for (ResultColumn& one : columns_) {
    const bool same = one.name == name || one.name == formatted("{} ({})", name, to_string(type));
    if (same && one.type == type) return one;
    taken = taken || one.name == name;
  }
  ResultColumn added{.name = taken ? formatted("{} ({})", name, to_string(type)) : name,
                     .unit = {},
                     .type = type,
                     .values = std::vector<StepValue>(steps_)};
  if (results.layout()) added.unit = results.layout()->results()[index].result->unit;
  for (StepValue& value : added.values) value.type = type;
  return columns_.emplace_back(std::move(added));
}

void ExportColumns::add(const StepResults& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const StepValue value = results.value(i);
    column(results.name(i), value.type, results, i).values.push_back(value);
  }
  ++steps_;
  for (ResultColumn& one : columns_) {
    if (one.values.size() < steps_) one.values.push_back({.type = one.type});
  }
}

}  // namespace ringside
