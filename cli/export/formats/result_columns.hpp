// SPDX-License-Identifier: BSD-3-Clause
// The results of the exported steps, by name, as columns with one value per step. They are for formats that store
// results beside the variables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "common/records/step_results.hpp"

namespace ringside {

/// Stands for an i64 result that a step does not have; an absent f64 is NaN.
inline constexpr std::int64_t kAbsentInteger = std::numeric_limits<std::int64_t>::min();

/// One result: a column of f64 or i64. An i128 becomes an f64 unless it fits into 64 bits in every step.
struct ResultColumn {
  std::string name;
  std::string unit;
  ValueType type = ValueType::kF64;  // the type in which the result was recorded
  std::vector<StepValue> values;     // one for each step
  bool is_integer() const noexcept;  // whether the column is i64
  std::vector<double> f64() const;   // the values, for a column that is not i64
  std::vector<std::int64_t> i64() const;
};

class ExportColumns {
 public:
  /// Adds the results of the next step. If the type of a result differs from that of earlier steps, a new column "NAME
  /// (TYPE)" begins.
  void add(const StepResults& results);
  const std::vector<ResultColumn>& columns() const noexcept { return columns_; }

 private:
  ResultColumn& column(const std::string& name, ValueType type, const StepResults& results, std::size_t index);

  std::vector<ResultColumn> columns_;
  std::size_t steps_ = 0;
};

}  // namespace ringside
